"""The leaderboard: ranks, ties, today, languages, who is shown, nicknames."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from games.speech import selectors
from games.speech.models import Round, SpeechSettings
from studies.models import Participant, Study
from tests import factories
from tests.speech.conftest import START, Person

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def played(
    study: Study, *points: int, nickname: str = "", at: datetime = START, **fields: object
) -> Participant:
    """Somebody with finished rounds of these points, one minute apart."""
    language = str(fields.pop("language", "en"))
    person: Participant = factories.ParticipantFactory(study=study, nickname=nickname, **fields)
    player = factories.SpeechPlayerFactory(participant=person)
    for number, one in enumerate(points, start=1):
        Round.objects.create(
            player=player,
            number=number,
            state="finished",
            language=language,
            answered=5,
            correct=min(one // 10, 5),
            points=one,
            started_at=at,
            finished_at=at + timedelta(minutes=number),
        )
    return person


def table(
    study: Study, *, you: Participant | None = None, language: str = "all", today: bool = False
) -> list[dict]:
    settings = SpeechSettings.objects.get(study=study)
    return selectors.standings(study, settings, language=language, today=today, you=you, now=START)


@pytest.fixture
def bare() -> Study:
    study: Study = factories.StudyFactory(slug="board", time_zone="Asia/Shanghai")
    factories.SpeechSettingsFactory(study=study)
    return study


def test_ties_share_a_rank_and_keep_their_order(bare: Study) -> None:
    played(bare, 25, nickname="late", at=START + timedelta(hours=1))
    played(bare, 10, 15, nickname="early")
    played(bare, 35, 10, nickname="first")
    played(bare, 10, nickname="last")
    rows = table(bare)
    assert [(row["rank"], row["nickname"], row["points"], row["rounds"]) for row in rows] == [
        (1, "first", 45, 2),
        (2, "early", 25, 2),
        (2, "late", 25, 1),
        (4, "last", 10, 1),
    ]


def test_withdrawn_erased_pilots_and_tests_are_not_shown(bare: Study) -> None:
    played(bare, 10, nickname="here")
    played(bare, 35, withdrawn_at=START)
    played(bare, 35, erased_at=START, withdrawn_at=START)
    played(bare, 35, is_pilot=True)
    bot = played(bare, 35, is_test=True)
    assert [row["nickname"] for row in table(bare)] == ["here"]
    assert [row["you"] for row in table(bare, you=bot)] == [True, False]


def test_today_is_the_studys_day(bare: Study) -> None:
    # START is 20:00 in Shanghai; its day began at 16:00 UTC of the day before.
    midnight = datetime.fromisoformat("2026-03-01T16:00:00+00:00")
    played(bare, 10, nickname="yesterday", at=midnight - timedelta(minutes=2))
    played(bare, 20, nickname="today", at=midnight - timedelta(minutes=1))
    assert [row["nickname"] for row in table(bare, today=True)] == ["today"]
    assert len(table(bare)) == 2


def test_boards_by_language(bare: Study) -> None:
    played(bare, 10, nickname="en")
    played(bare, 20, nickname="zh", language="zh")
    assert [row["nickname"] for row in table(bare, language="zh")] == ["zh"]
    assert [row["nickname"] for row in table(bare, language="en")] == ["en"]
    assert len(table(bare)) == 2


def test_by_accuracy_rounds_count_by_answers(bare: Study) -> None:
    SpeechSettings.objects.update(points="accuracy")
    played(bare, 50, 30, nickname="eighty")
    played(bare, 50, nickname="hundred")
    assert [(row["nickname"], row["points"]) for row in table(bare)] == [("hundred", 100), ("eighty", 80)]


def test_rounds_for_fun_and_other_studies_do_not_count(bare: Study) -> None:
    fun = played(bare, 35, nickname="fun")
    Round.objects.filter(player__participant=fun).update(for_fun=True)
    elsewhere = factories.StudyFactory()
    played(elsewhere, 35)
    assert table(bare) == []


def test_you_are_always_visible_with_neighbours(bare: Study) -> None:
    people = [played(bare, 1000 - n, nickname=f"p{n}") for n in range(40)]
    you = people[30]
    rows = selectors.board(table(bare, you=you))
    assert [row["rank"] for row in rows[:20]] == list(range(1, 21))
    assert rows[20] == {"cut": True, "from": 21, "to": 28}
    assert [(row["rank"], row["you"]) for row in rows[21:]] == [
        (29, False),
        (30, False),
        (31, True),
        (32, False),
        (33, False),
    ]
    assert len(selectors.board(table(bare, you=people[3]))) == 20
    near = selectors.board(table(bare, you=people[20]))
    assert [row["rank"] for row in near] == list(range(1, 24))


def test_board_page_shows_nicknames_escaped_and_the_others_without(person: Person, other: Person) -> None:
    person.play_round("rrrrr")
    other.play_round("rrrrw")
    Participant.objects.filter(pk=other.participant.pk).update(nickname="<b>Tide</b>")
    page = person.get("board/")
    text = page.content.decode()
    assert "&lt;b&gt;Tide&lt;/b&gt;" in text
    assert "<b>Tide</b>" not in text
    assert [row["nickname"] for row in page.context["rows"]] == ["You", "<b>Tide</b>"]
    assert person.participant.code not in text
    assert other.participant.code not in text


@pytest.mark.parametrize("query", ["language=xx", "language=all&period=today", "period=%00", "language=zh"])
def test_board_takes_any_filter(person: Person, query: str) -> None:
    person.trial()
    assert person.get(f"board/?{query}").status_code == 200


def test_board_can_be_switched_off(person: Person) -> None:
    SpeechSettings.objects.update(leaderboard=False)
    assert person.get("board/").status_code == 404


@pytest.mark.parametrize("bad", ["=SUM(A1)", "x" * 10_000, "a\u202eb", "\u0000"])
def test_bad_nickname_is_refused_in_words(person: Person, bad: str) -> None:
    page = person.form("nickname/", nickname=bad)
    assert page.status_code == 400
    assert page.context["error"]
    assert person.post("nickname/", nickname=bad).status_code == 400
    assert Participant.objects.get(pk=person.participant.pk).nickname == ""


def test_nickname_is_stored_and_look_alikes_are_refused(person: Person, other: Person) -> None:
    assert person.form("nickname/", nickname="Tide").headers["Location"] == "/s/game/speech/board/"
    page = other.form("nickname/", nickname="TIDE")
    assert page.status_code == 400
    assert page.context["nickname"] == "TIDE"
    assert other.post("nickname/", nickname={"a": 1}).status_code == 400

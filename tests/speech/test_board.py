"""The leaderboard: ranks, ties, today, languages, who is shown, nicknames."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games.speech import leaderboard
from games.speech.models import Round, SpeechSettings, Standing
from games.speech.services.scoring import add_up
from studies.models import Participant, Study
from studies.services import withdraw
from tests import factories
from tests.clock import START
from tests.speech.conftest import Person

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def played(
    study: Study, *points: int, nickname: str = "", at: datetime = START, **fields: object
) -> Participant:
    """Somebody with finished rounds of these points, one minute apart."""
    language, for_fun = str(fields.pop("language", "en")), bool(fields.pop("for_fun", False))
    person: Participant = factories.ParticipantFactory(study=study, nickname=nickname, **fields)
    player = factories.SpeechPlayerFactory(participant=person)
    for number, one in enumerate(points, start=1):
        Round.objects.create(
            player=player,
            number=number,
            state="finished",
            language=language,
            for_fun=for_fun,
            answered=5,
            correct=min(one // 10, 5),
            points=one,
            started_at=at,
            finished_at=at + timedelta(minutes=number),
        )
    if not person.is_gone:
        add_up(player)  # as the end of a round does
    return person


def board(study: Study, you: Participant, *, language: str = "all", today: bool = False) -> list[dict]:
    settings = SpeechSettings.objects.get(study=study)
    return leaderboard.board(study, settings, language=language, today=today, you=you, now=START)


def table(study: Study, *, language: str = "all", today: bool = False) -> list[dict]:
    """What somebody without a round sees of the others."""
    looking = factories.ParticipantFactory(study=study)
    return [row for row in board(study, looking, language=language, today=today) if not row.get("you")]


def added_up(study: Study, you: Participant, *, language: str, today: bool, now: datetime) -> list[dict]:
    """The whole board by its rule, from every round of everybody: what the stored sums must come to."""
    zone = ZoneInfo(study.time_zone)
    accuracy = SpeechSettings.objects.get(study=study).points == "accuracy"
    people: dict[Participant, list[Round]] = {}
    found = Round.objects.filter(player__participant__study=study, state="finished", for_fun=False)
    for one in found.filter(answered__gt=0).select_related("player__participant"):
        person = one.player.participant
        day = one.finished_at.astimezone(zone).date()  # type: ignore[union-attr]
        fits = language in ("all", one.language) and (not today or day == now.astimezone(zone).date())
        seen = not (person.is_pilot or person.is_test) or person == you
        if fits and seen and not person.is_gone:
            people.setdefault(person, []).append(one)
    scored = []
    for person, rounds in people.items():
        right, answers = sum(one.correct for one in rounds), sum(one.answered for one in rounds)
        score = round(100 * right / answers) if accuracy else sum(one.points for one in rounds)
        last = max(one.finished_at for one in rounds if one.finished_at)
        scored.append((-score, last, person.speech.pk, len(rounds), person))
    scored.sort(key=lambda row: row[:3])
    rows: list[dict] = []
    for place, (points, _last, _player, count, person) in enumerate(scored, start=1):
        rank = rows[-1]["rank"] if rows and rows[-1]["points"] == -points else place
        row = {"rank": rank, "nickname": person.nickname, "points": -points, "rounds": count}
        rows.append(row | {"you": person == you})
    return rows


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
    assert [row["you"] for row in board(bare, bot)] == [True, False]


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
    played(bare, 35, nickname="fun", for_fun=True)
    elsewhere = factories.StudyFactory()
    played(elsewhere, 35)
    assert table(bare) == []


def test_you_are_always_visible_with_neighbours(bare: Study) -> None:
    people = [played(bare, 1000 - n, nickname=f"p{n}") for n in range(40)]
    rows = board(bare, people[30])
    assert [row["rank"] for row in rows[:20]] == list(range(1, 21))
    assert rows[20] == {"cut": True, "from": 21, "to": 28}
    assert [(row["rank"], row["you"]) for row in rows[21:]] == [
        (29, False),
        (30, False),
        (31, True),
        (32, False),
        (33, False),
    ]
    assert len(board(bare, people[3])) == 20
    assert [row["rank"] for row in board(bare, people[20])] == list(range(1, 24))


def test_without_a_round_you_stand_below_everybody(bare: Study) -> None:
    for n in range(25):
        played(bare, 1000 - n)
    rows = board(bare, factories.ParticipantFactory(study=bare, nickname="new"))
    assert rows[20] == {"cut": True, "from": 21, "to": 25}
    assert rows[21] == {"rank": None, "nickname": "new", "points": None, "rounds": 0, "you": True}
    assert len(rows) == 22


@pytest.mark.parametrize("rule", ["beyond_half", "accuracy"])
@pytest.mark.parametrize("today", [True, False])
@pytest.mark.parametrize("language", ["all", "en", "zh"])
def test_the_board_equals_all_rounds_added_up(bare: Study, rule: str, today: bool, language: str) -> None:
    SpeechSettings.objects.update(points=rule)
    draw = random.Random(7)
    people = []
    for n in range(34):
        points = [draw.choice([10, 15, 25, 35]) for _ in range(draw.randint(1, 2))]
        at = START - timedelta(hours=draw.choice([1, 30]), seconds=n)
        state = {"is_pilot": n % 17 == 0, "is_test": n % 19 == 0}
        tongue = draw.choice(["en", "zh"])
        people.append(played(bare, *points, nickname=f"p{n}", at=at, language=tongue, **state))
    for gone in people[5::11]:
        withdraw(participant=gone, erase_answers=gone == people[5])
    here = [person for person in people if not Participant.objects.get(pk=person.pk).is_gone]
    settings = SpeechSettings.objects.get(study=bare)
    for you in here[::3]:
        whole = added_up(bare, you, language=language, today=today, now=START)
        rows = board(bare, you, language=language, today=today)
        shown = [row for row in rows if not row.get("cut") and row["rank"] is not None]
        assert [row for row in whole if row in shown] == shown
        assert shown[:20] == whole[:20]
        own = next((row for row in whole if row["you"]), None)
        assert [row for row in rows if row.get("you")] == [own or rows[-1]]
        you.judging_language = language
        if not today:
            assert leaderboard.standing(bare, settings, you, now=START) == own


def test_whoever_withdraws_vanishes_at_once_from_every_board(person: Person, other: Person) -> None:
    person.play_round("rrrrr")
    other.play_round("rrrrw")
    assert [row["rank"] for row in other.get("board/").context["rows"]] == [1, 2]
    person.client.post(f"/s/{person.slug}/leave/", {"choice": "stop"})
    assert [row["rank"] for row in other.get("board/").context["rows"]] == [1, 2], "finished, not withdrawn"
    code = Participant.objects.get(pk=person.participant.pk).receipt_code
    person.client.post(f"/s/{person.slug}/withdraw/", {"code": code, "choice": "stop"})
    for period in ("all", "today"):
        rows = other.get(f"board/?language=all&period={period}").context["rows"]
        assert [(row["rank"], row["you"]) for row in rows] == [(1, True)]


def test_a_reveal_costs_no_more_with_many_players(person: Person) -> None:
    person.play_round("rrrrr")

    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            assert person.get("round/1/").status_code == 200
        return len(caught)

    person.get("round/1/")
    before = queries()
    for n in range(30):
        played(person.participant.study, n)
    assert queries() == before


def test_rounds_from_before_the_sums_were_kept_are_added_up_once(bare: Study) -> None:
    played(bare, 25, 35, nickname="long here")
    played(bare, 35, withdrawn_at=START)
    pilot = played(bare, 35, is_pilot=True)
    kept = list(Standing.objects.order_by("player", "language", "period").values())
    Standing.objects.filter(player__participant__in=[pilot]).delete()
    fill: Callable[[Any, Any], None] = import_module("games.speech.migrations.0005_fill_standings").fill
    for _ in range(2):
        fill(apps, None)
        found = list(Standing.objects.order_by("player", "language", "period").values())
        assert [row | {"id": 0} for row in found] == [row | {"id": 0} for row in kept]


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

"""Seeding the demo: a study people can read about, simulated rounds that obey every rule, nothing twice."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.models import Annotator, BatchItem, ReviewCase, Score
from annotation.services import batches
from annotation.services.settings import change_annotation_settings
from dialogues.models import Dialogue, Verdict
from games.speech.models import Round, SpeechPlayer, Trial
from studies.models import Participant, Study, TurnedAway
from studies.selectors import current_consent_text
from turingsite.demo import labels, people, seed

DIALOGUES = 64
UNTIL = datetime(2026, 3, 20, 15, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def imported(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    """The demo with its dialogues, as if they had been processed. Made once, taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        user = seed.researcher()
        study = seed.study(user)
        seed.systems()
        assert seed.clips(study, user, print) == DIALOGUES
        Dialogue.objects.update(state=Dialogue.State.READY, play_duration=22.0)
        yield seed.opened(study, user, until=UNTIL).pk
        transaction.set_rollback(True)


@pytest.fixture
def demo(imported: int, db: None) -> Study:
    return Study.objects.get(pk=imported)


def answers(study: Study) -> list[tuple[str, str, str]]:
    rows = Verdict.objects.filter(study=study).order_by("pk")
    return list(rows.values_list("rater__participant__code", "dialogue__external_id", "choice"))


def counts() -> list[int]:
    return [model.objects.count() for model in (Participant, Verdict, Dialogue, TurnedAway)]


def play(study: Study, rounds: int) -> int:
    return seed.rounds(study, wanted=rounds, until=UNTIL, say=lambda line: None)


def test_the_pages_say_that_all_voices_are_synthetic(demo: Study) -> None:
    text = current_consent_text(demo)
    assert text is not None
    assert demo.test_participants
    assert demo.is_listed
    assert demo.status == Study.Status.OPEN
    for language, notice, synthetic in (("en", demo.notice_en, "synthetic"), ("zh", demo.notice_zh, "合成")):
        words = text.body[language]
        assert synthetic in notice
        assert any(synthetic in paragraph for _, paragraph in words["sections"])
        assert "{" not in str(words["summary"])
        assert language == "en" or demo.host not in str(words)  # nothing English in the Chinese text
        headings = [heading for heading, _ in words["sections"]]
        assert len(headings) == len(set(headings))


def test_annotators_read_the_same_and_that_nobody_is_paid(demo: Study) -> None:
    for _ in range(2):
        labels.texts(demo, seed.researcher())
    change_annotation_settings(study=demo, rate_per_hour=18)
    assert demo.consent_texts.filter(activity="annotation").count() == 3  # as written, filled in, with a rate
    text = current_consent_text(demo, "annotation")
    assert text is not None
    for language, synthetic, nobody in (
        ("en", "synthetic", "nobody is paid"),
        ("zh", "合成", "并不实际支付"),
    ):
        words = text.body[language]
        assert any(synthetic in paragraph for _, paragraph in words["sections"])
        assert any("GBP\u00a018.00" in row and nobody in row for _, row in words["summary"])
        headings = [heading for heading, _ in words["sections"]]
        assert len(headings) == len(set(headings))
        assert "{" not in str(list(words.values()))
    assert any("twice" in paragraph for _, paragraph in text.body["en"]["debrief"])


def test_rounds_are_played_through_the_rules(demo: Study) -> None:
    assert play(demo, 14) >= 12
    finished = Round.objects.filter(player__participant__study=demo, state=Round.State.FINISHED)
    assert all(one.trials.exclude(state=Trial.State.FAILED).count() == 5 for one in finished)
    verdicts = Verdict.objects.filter(study=demo)
    assert verdicts.count() >= 40
    assert all(verdict.evidence["heard"] > 0.97 for verdict in verdicts)
    assert set(verdicts.values_list("exclusion", flat=True)) <= {"", "known"}
    assert "too_fast" not in {reason for verdict in verdicts for reason in verdict.protocol_breaks}
    assert all(verdict.given_at < UNTIL for verdict in verdicts)
    assert SpeechPlayer.objects.filter(checks_asked__gt=0).exists()


def test_the_same_seed_gives_the_same_demo(demo: Study) -> None:
    play(demo, 4)
    first = answers(demo)
    Trial.objects.update(verdict=None)
    Verdict.objects.all().delete()
    Trial.objects.all().delete()
    Participant.objects.all().delete()
    demo.audit_lines.filter(action=seed.PLAYED).delete()
    play(demo, 4)
    assert first == answers(demo)
    assert first


def test_seeding_again_adds_nothing(demo: Study) -> None:
    play(demo, 3)
    before = counts()
    user = seed.researcher()
    again = seed.study(user)
    seed.systems()
    assert again == demo
    assert seed.clips(again, user, print) == DIALOGUES
    assert play(again, 3) == 0
    assert before == counts()
    assert again.consent_texts.count() == demo.consent_texts.count()


def test_a_seeding_that_was_broken_off_goes_on(demo: Study) -> None:
    play(demo, 2)
    demo.audit_lines.filter(action=seed.PLAYED).delete()
    played = play(demo, 5)
    codes = Counter(Participant.objects.filter(erased_at=None).values_list("code", flat=True))
    assert max(codes.values()) == 1
    assert played > 0


def test_people_come_before_now_and_some_today() -> None:
    times = people.arrivals(random.Random(1), 80, until=UNTIL, days=12)
    assert times == sorted(times)
    assert times[-1] < UNTIL
    assert sum((UNTIL - at).total_seconds() < 6 * 3600 for at in times) >= 3


def test_the_simulated_hear_what_sounds_human() -> None:
    drawn = [one for one in people.draw_people(5, 300) if isinstance(one, people.Person)]
    share = {
        human: sum(people.judgement(one, human) == "human" for one in drawn for _ in range(20))
        / (20 * len(drawn))
        for human in (1.25, -1.5)
    }
    assert 0.68 < share[1.25] < 0.82
    assert share[-1.5] < 0.3
    assert 0 < sum(not one.attentive for one in drawn) < len(drawn) / 5


def test_clocks_are_the_simulations_own(demo: Study) -> None:
    play(demo, 2)
    assert Participant.objects.order_by("-joined_at").values_list("joined_at", flat=True)[0] < UNTIL
    assert timezone.now() > UNTIL


@pytest.mark.slow
def test_every_dialogue_is_labelled_and_somebody_can_go_on(demo: Study) -> None:
    assert labels.made(demo, seed.researcher(), until=UNTIL, say=lambda line: None) == 36
    done = BatchItem.objects.filter(study=demo, purpose="work", state="finished")
    raters = Counter(done.values_list("dialogue", flat=True))
    assert len(raters) == DIALOGUES
    assert Counter(raters.values()) == {3: DIALOGUES - 12, 2: 12}
    assert set(Counter(done.values_list("rater", "dialogue")).values()) == {1}
    assert Score.objects.filter(item__in=done).count() == 18 * done.count()
    states = Counter(ReviewCase.objects.values_list("state", flat=True))
    assert states["closed"] == 24
    assert states["waiting"] > 0
    assert states["discussion"] > 0
    login = Annotator.objects.get(participant__user__username=labels.ANNOTATOR)
    assert login.state == Annotator.State.WORKING
    assert login.attempts.get().state == "passed"
    assert batches.start_or_resume(participant=login.participant, now=UNTIL).name == "batch"
    assert Annotator.objects.get(participant__code="hasty").state == Annotator.State.FAILED
    agreed = Annotator.objects.values_list("participant__consent__text__activity", flat=True)
    assert set(agreed) == {"annotation"}
    before = counts()
    assert labels.made(demo, seed.researcher(), until=UNTIL, say=lambda line: None) == 0
    assert counts() == before

"""The same request many times at once: threads on real connections, one row in the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from dialogues.models import Exposure, Verdict
from games.speech import services
from games.speech.models import Round, SpeechPlayer, Trial
from games.speech.services import Listening
from studies import services as studies
from studies.models import Participant, Study
from tests import factories
from tests.speech.conftest import Person
from turingsite.errors import DomainError

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]

THREADS = 20


@pytest.fixture
def study(transactional_db: None) -> Study:
    return factories.speech_study(systems=5)


@pytest.fixture
def person(study: Study) -> Person:
    """A bot that may claim to have heard, so that no clock is needed."""
    Study.objects.update(test_participants=True)
    return Person(factories.ParticipantFactory(study=study, is_test=True))


def at_once(action: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """``action`` in so many threads that start together; what they gave or raised."""
    barrier = threading.Barrier(threads)

    def run(number: int) -> Any:
        try:
            barrier.wait(timeout=30)
            return action(number)
        except DomainError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def fresh(participant: Participant) -> Participant:
    return Participant.objects.select_related("study", "rater").get(pk=participant.pk)


HEARD = Listening(ranges=((0.0, 30.0),), plays=1, ended=True)


def test_same_verdict_from_twenty_threads_is_one_row(person: Person) -> None:
    code = person.trial()["code"]

    def verdict(number: int) -> str:
        found = services.give_verdict(
            participant=fresh(person.participant), code=code, choice="human", report=HEARD, now=timezone.now()
        )
        return found.answer

    assert at_once(verdict) == ["human"] * THREADS
    verdict_row = Verdict.objects.get()
    assert Trial.objects.get(code=code).verdict == verdict_row


def test_different_answers_at_once_leave_one_row_that_both_tables_agree_on(person: Person) -> None:
    code = person.trial()["code"]

    def verdict(number: int) -> str:
        choice = "human" if number % 2 else "machine"
        now = timezone.now()
        services.give_verdict(
            participant=fresh(person.participant), code=code, choice=choice, report=HEARD, now=now
        )
        return choice

    at_once(verdict)
    row = Verdict.objects.get()
    assert Trial.objects.get(code=code).answer == row.choice
    assert row.first_choice in ("human", "machine")


def test_first_visit_from_twenty_threads_makes_one_player_round_and_two_trials(person: Person) -> None:
    def visit(number: int) -> str:
        place = services.start_or_resume(participant=fresh(person.participant), now=timezone.now())
        assert place.trial is not None
        return place.trial.code

    assert len(set(at_once(visit))) == 1
    assert (SpeechPlayer.objects.count(), Round.objects.count()) == (1, 1)
    assert (Trial.objects.count(), Exposure.objects.count()) == (2, 2)


def test_next_from_two_tabs_draws_once(person: Person) -> None:
    trial = person.trial()
    assert person.answer(trial, ranges=[[0, 30]], ended=True).status_code == 200

    def go_on(number: int) -> str:
        place = services.next_trial(
            participant=fresh(person.participant), code=trial["code"], now=timezone.now()
        )
        assert place.trial is not None
        return place.trial.code

    assert len(set(at_once(go_on, 8))) == 1
    assert sorted(Trial.objects.values_list("position", "state")) == [
        (1, "done"),
        (2, "current"),
        (3, "drawn"),
    ]


def test_last_next_from_two_tabs_finishes_the_round_once(person: Person) -> None:
    for position in range(1, 6):
        trial = person.trial()
        person.answer(trial, ranges=[[0, 30]], ended=True)
        if position < 5:
            person.next(trial)

    def go_on(number: int) -> str:
        place = services.next_trial(
            participant=fresh(person.participant), code=trial["code"], now=timezone.now()
        )
        return place.name

    assert at_once(go_on, 8) == ["round"] * 8
    round_ = Round.objects.get()
    assert (round_.state, round_.answered) == ("finished", 5)


def test_failure_reported_twice_draws_one_replacement(person: Person) -> None:
    code = person.trial()["code"]

    def fail(number: int) -> str:
        place = services.report_failure(
            participant=fresh(person.participant), code=code, why="load_error", now=timezone.now()
        )
        assert place.trial is not None
        return place.trial.code

    assert len(set(at_once(fail, 8))) == 1
    assert Trial.objects.count() == 3


def test_verdict_and_next_and_listening_at_once_lose_nothing(person: Person) -> None:
    trial = person.trial()
    person.answer(trial, ranges=[[0, 30]], ended=True)

    def either(number: int) -> Any:
        participant, now = fresh(person.participant), timezone.now()
        if number % 3 == 0:
            return services.next_trial(participant=participant, code=trial["code"], now=now).name
        if number % 3 == 1:
            return services.give_verdict(
                participant=participant, code=trial["code"], choice="human", report=HEARD, now=now
            ).answer
        return services.record_listening(
            participant=participant, code=trial["code"], report=HEARD, now=now
        ).heard

    for answer in at_once(either, 12):
        assert answer in ("trial", "human", 1.0) or getattr(answer, "code", "") == "moved_on"
    assert Verdict.objects.get().choice == "human"


def test_many_people_at_once_get_their_trials_and_keep_their_verdicts(study: Study) -> None:
    Study.objects.update(test_participants=True)
    people = [Person(factories.ParticipantFactory(study=study, is_test=True)) for _ in range(THREADS)]

    def play(number: int) -> int:
        person = people[number]
        for _ in range(2):
            trial = person.trial()
            assert person.answer(trial, ranges=[[0, 30]], ended=True).status_code == 200
            assert person.next(trial).status_code == 200
        return number

    assert at_once(play) == list(range(THREADS))
    assert Verdict.objects.count() == 2 * THREADS


@pytest.mark.parametrize("repeat", range(3))
def test_first_visits_of_different_pages_make_one_player(study: Study, repeat: int) -> None:
    person = Person(factories.ParticipantFactory(study=study))
    calls: list[Callable[[Participant], Any]] = [
        services.player_of,
        lambda who: services.start_or_resume(participant=who, now=timezone.now()),
        lambda who: services.switch_keys(participant=who, off=True),
    ]
    at_once(lambda number: calls[number % 3](fresh(person.participant)), 12)
    assert SpeechPlayer.objects.count() == 1


@pytest.mark.parametrize("repeat", range(3))
@pytest.mark.parametrize("erase", [True, False])
def test_whoever_withdraws_in_the_middle_of_everything_leaves_and_nothing_breaks(
    person: Person, erase: bool, repeat: int
) -> None:
    asked: dict[str, Any] = {"code": person.trial()["code"], "now": timezone.now()}
    heard = asked | {"report": HEARD}
    calls: list[Callable[[Participant], Any]] = [
        lambda who: studies.withdraw(participant=who, erase_answers=erase),
        lambda who: services.give_verdict(participant=who, choice="human", **heard),
        lambda who: services.next_trial(participant=who, **asked),
        lambda who: services.report_failure(participant=who, why="no_sound", **asked),
        lambda who: services.record_listening(participant=who, **heard),
        lambda who: services.switch_keys(participant=who, off=True),
        lambda who: services.start_or_resume(participant=who, now=timezone.now()),
    ]
    at_once(lambda number: calls[number](fresh(person.participant)), len(calls))
    left = Participant.objects.get(pk=person.participant.pk)
    assert left.withdrawn_at is not None
    if erase:
        assert not Verdict.objects.exists()
        assert not SpeechPlayer.objects.exists()

"""How it ends for people who stop because of us: the sound failed, or there was nothing to hear."""

from __future__ import annotations

import pytest

from dialogues.models import StudyItem
from games.speech.services.playing import FAILURES
from studies.models import AuditLine, EndState, Participant, Study
from tests import factories
from tests.speech.conftest import Person

pytestmark = [pytest.mark.django_db, pytest.mark.both]


@pytest.fixture(autouse=True)
def pay(study: Study) -> None:
    for state in EndState.values:
        factories.CompletionFactory(study=study, end_state=state, code=f"CODE-{state}", pay_en=f"pay {state}")


def fail(person: Person, times: int = 1) -> None:
    for _ in range(times):
        assert person.post(f"trial/{person.trial()['code']}/failed/", why="network").status_code == 200


def stop(person: Person) -> Participant:
    """Read what stopping gives, stop, read the debrief; the page before and the one after must agree."""
    leave = f"/s/{person.slug}/leave/"
    before = person.client.get(leave).content.decode()
    after = person.client.post(leave, {"choice": "stop"}, follow=True).content.decode()
    ended: Participant = Participant.objects.get(pk=person.participant.pk)
    assert f"pay {ended.end_state}" in before
    assert f"CODE-{ended.end_state}" in after
    return ended


def test_one_whose_sound_failed_every_time_ends_as_technical(person: Person) -> None:
    fail(person, 2)
    ended = stop(person)
    assert (ended.end_state, ended.state) == ("technical", "screened_out")
    assert ended.completed_at is not None
    assert ended.withdrawn_at is None
    assert not AuditLine.objects.filter(action="participant.withdrew").exists()


def test_one_failure_is_enough_where_nothing_was_ever_heard(person: Person) -> None:
    fail(person)
    assert stop(person).end_state == "technical"


def test_one_that_played_after_all_speaks_against_it(person: Person) -> None:
    fail(person)
    person.listen(person.trial(), seconds=4, ended=False)
    assert stop(person).end_state == "withdrew"


def test_one_that_broke_off_and_was_reported_speaks_for_it(person: Person) -> None:
    person.listen(person.trial(), seconds=4, ended=False)
    fail(person)
    assert stop(person).end_state == "technical"


@pytest.mark.parametrize(("failures", "end"), [(FAILURES - 1, "withdrew"), (FAILURES, "technical")])
def test_after_an_answer_it_takes_as_many_as_send_to_the_pause(
    person: Person, failures: int, end: str
) -> None:
    person.judge()
    fail(person, failures)
    assert ("goto" in person.state()) is (end == "technical")
    assert stop(person).end_state == end


def test_a_finished_round_counts_as_done_whatever_fails_later(person: Person) -> None:
    person.play_round()
    person.get("round/1/")
    fail(person, 2)
    assert stop(person).end_state == "done"


def test_people_who_only_looked_withdrew(person: Person) -> None:
    person.trial()
    assert stop(person).end_state == "withdrew"


def test_people_who_never_began_withdrew(person: Person) -> None:
    StudyItem.objects.update(is_active=False)
    assert stop(person).end_state == "withdrew"


def test_nothing_to_hear_is_ours(person: Person) -> None:
    StudyItem.objects.update(is_active=False)
    Participant.objects.update(state=Participant.State.CONSENTED)
    assert person.get("").status_code == 409
    assert stop(person).end_state == "technical"

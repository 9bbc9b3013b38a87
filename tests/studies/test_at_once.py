"""At the same moment on a real database: one person stays one, and leaving comes before or after."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections, transaction

from studies import audit, services
from studies.models import Answer, AuditLine, Consent, Participant, Rater, TurnedAway
from tests import factories
from turingsite.errors import DomainError

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run ``calls`` from a common start, each on its own connection; results, or the domain error raised."""
    start = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(index: int, call: Callable[[], Any]) -> None:
        start.wait()
        try:
            results[index] = call()
        except DomainError as error:
            results[index] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(index, call)) for index, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return results


@pytest.mark.parametrize("keys", [["SAME"] * 8, [f"TAB{n}" for n in range(8)]], ids=["double click", "tabs"])
def test_one_panel_person_who_consents_eight_times_at_once_is_one_participant(keys):
    study = factories.StudyFactory(recruiter_params=["PROLIFIC_PID"])
    text = factories.ConsentTextFactory(study=study)

    def consent(key: str) -> Participant:
        return services.consent(
            study=study,
            text=text,
            key=key,
            language="en",
            publish_text=False,
            contact_again=False,
            recruiter={"PROLIFIC_PID": "person-1"},
        )

    people = at_once(*(lambda key=key: consent(key) for key in keys))
    assert {person.pk for person in people} == {Participant.objects.get().pk}
    assert Rater.objects.count() == Consent.objects.count() == 1


def test_a_name_wanted_by_two_at_once_goes_to_one():
    study = factories.StudyFactory()
    two = [factories.ParticipantFactory(study=study) for _n in range(2)]
    results = at_once(
        *(lambda one=one: services.set_nickname(participant=one, nickname="Sparrow") for one in two)
    )
    assert sorted(str(getattr(result, "code", result)) for result in results) == ["Sparrow", "nickname_taken"]


def test_answers_sent_while_the_person_erases_leave_nothing():
    sheet = factories.QuestionnaireFactory()
    participant = factories.ParticipantFactory(study=sheet.study)
    calls = [
        lambda: services.record_answers(
            participant=participant, questionnaire=sheet, values={"age": "18-25"}, language="en"
        )
    ] * 4
    at_once(
        *calls,
        lambda: services.withdraw(participant=Participant.objects.get(), erase_answers=True),
    )
    assert not Answer.objects.exists()
    assert Participant.objects.get().erased_at is not None


def test_visitors_turned_away_at_once_are_all_counted():
    study = factories.StudyFactory()
    at_once(*[lambda: services.turn_away(study=study, reason="under_age")] * 6)
    assert TurnedAway.objects.get().count == 6


def test_who_withdraws_holds_up_nobody_who_writes_beside_them():
    """A row that points to the study or the person is checked at the commit, maybe of whom we wait for."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    participant = factories.ParticipantFactory()

    def write() -> None:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '2s'")
            audit.record("group.settings", study=participant.study)
            factories.AnswerFactory(rater=participant.rater)
            TurnedAway.objects.create(study=participant.study, day=factories.NOW.date(), reason="closed")

    with transaction.atomic():
        services.withdraw(participant=participant, erase_answers=False)
        assert at_once(write) == [None]
    assert AuditLine.objects.filter(action="group.settings").exists()

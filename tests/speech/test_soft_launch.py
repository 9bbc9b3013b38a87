"""The soft launch: after the n-th person the study pauses by itself, once, and nobody loses their place."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dialogues.analysis_sets import sets_of
from dialogues.models import Verdict
from games.speech.funnel import technical_of
from studies import registry, services
from studies.models import AuditLine, EndState, Participant, Study
from studies.pay import pay_of
from studies.registry import datasets
from studies.reports import ANALYSIS_SETS, Options, run_report
from studies.selectors import soft_launched
from studies.services.launching import paused_by_soft_launch
from tests import factories
from tests.speech.conftest import Person
from tests.studies.test_at_once import at_once
from turingsite.errors import Conflict


def launch(study: Study, n: int) -> Study:
    Study.objects.filter(pk=study.pk).update(status="soft_launch", soft_launch_n=n)
    study.refresh_from_db()
    return study


def through(study: Study, **more: Any) -> Participant:
    """Somebody who has finished a round and now finishes."""
    person: Participant = factories.ParticipantFactory(study=study, **more)
    player = factories.SpeechPlayerFactory(participant=person)
    factories.RoundFactory(player=player, state="finished", answered=5, finished_at=factories.NOW)
    return Participant.objects.select_related("study").get(pk=person.pk)


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_of_many_who_finish_at_once_the_nth_pauses_the_study_once() -> None:
    study = launch(factories.StudyFactory(), 6)
    people = [through(study) for _n in range(12)]
    results = at_once(*(lambda one=one: services.complete(participant=one) for one in people))
    assert results == [True] * 12
    study.refresh_from_db()
    assert study.status == "paused"
    line = AuditLine.objects.get(study=study, action="study.status")
    assert (line.detail["why"], line.detail["people"], line.detail["now_is"]) == ("soft_launch", 6, "paused")
    assert line.actor_kind == "system"
    assert soft_launched(study) >= 6
    assert paused_by_soft_launch(study)


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_whoever_opens_it_in_the_meantime_is_not_overruled() -> None:
    study = launch(factories.StudyFactory(), 2)
    people = [through(study) for _n in range(3)]
    services.complete(participant=people[0])
    Study.objects.filter(pk=study.pk).update(status="open")  # these people loaded it as a soft launch
    for person in people[1:]:
        services.complete(participant=person)
    study.refresh_from_db()
    assert study.status == "open"


@pytest.mark.django_db
def test_pilots_tests_and_people_without_a_round_are_not_counted() -> None:
    study = launch(factories.StudyFactory(), 1)
    for person in (through(study, is_pilot=True), through(study, is_test=True)):
        services.complete(participant=person)
    short = factories.ParticipantFactory(study=study)
    services.stop(participant=short)
    assert soft_launched(study) == 0
    study.refresh_from_db()
    assert study.status == "soft_launch"


def test_who_finishes_a_round_counts_and_who_is_in_the_middle_goes_on(study: Study, clock: Any) -> None:
    launch(study, 1)
    first, second = (Person(factories.ParticipantFactory(study=study), clock) for _n in range(2))
    trial = second.trial()
    first.play_round()
    study.refresh_from_db()
    assert study.status == "paused"
    # Halfway through a round: it goes on to its end, and the next one waits, with kind words.
    assert second.trial()["code"] == trial["code"]
    last = second.play_round()
    assert "round" in last["goto"]
    assert second.get("round/1/").status_code == 200
    assert second.get().url.endswith("/pause/")
    text = second.get("pause/").content.decode()
    assert "Your answers are stored. Come back later; you go on where you stopped." in text
    assert soft_launched(study) == 1
    newcomer = second.client.get(f"/s/{study.slug}/consent/")
    assert newcomer.status_code in (302, 503)


def test_a_soft_launch_that_is_through_says_why_and_opens(client: Any, cast: Any) -> None:
    study = launch(cast.study, 1)
    person = through(study)
    services.complete(participant=person)
    client.force_login(cast.researcher)
    page = client.get(reverse("admin:desk_study", args=[study.slug])).content.decode()
    assert "The soft launch is through." in page
    assert "It paused by itself when 1 person had been through." in page
    figures = client.get(reverse("admin:desk_soft_launch", args=[study.slug]))
    assert figures.context["technical"].finished == 1
    assert "Open the study" in figures.content.decode()
    study.refresh_from_db()
    _ready(study)
    with pytest.raises(Conflict, match="people have been through the soft launch"):
        services.change_status(study=study, to="soft_launch")
    services.change_status(study=study, to="open")
    assert not paused_by_soft_launch(study)


def test_the_soft_launch_is_told_of_those_who_joined_in_it(client: Any, cast: Any) -> None:
    study = launch(cast.study, 1)
    Participant.objects.filter(study=study).delete()
    middle = factories.ParticipantFactory(study=study)  # in the middle when it pauses
    first = through(study)
    services.complete(participant=first)
    study.refresh_from_db()
    _ready(study)
    client.force_login(cast.researcher)
    offered = [
        to for to, _label in client.get(reverse("admin:desk_study", args=[study.slug])).context["moves"]
    ]
    assert offered == ["open", "closed"]
    services.change_status(study=study, to="open")
    later = through(study, joined_at=timezone.now())
    services.complete(participant=later)
    page = client.get(reverse("admin:desk_soft_launch", args=[study.slug]))
    found = page.context["technical"]
    assert (page.context["launched"], found.consented, found.finished) == (1, 2, 1)
    people = client.get(reverse("admin:desk_participants", args=[study.slug]))
    notes = {row["person"].pk: [str(note) for note in row["notes"]] for row in people.context["rows"]}
    assert notes == {first.pk: ["soft launch"], middle.pk: ["soft launch"], later.pk: []}
    services.change_status(study=study, to="paused")
    offered = [
        to for to, _label in client.get(reverse("admin:desk_study", args=[study.slug])).context["moves"]
    ]
    assert offered == ["open", "closed"]
    for to in ("pilot", "soft_launch"):
        with pytest.raises(Conflict):
            services.change_status(study=study, to=to)


def _ready(study: Study) -> None:
    factories.ConsentTextFactory(study=study)
    for end in EndState.values:
        factories.CompletionFactory(study=study, end_state=end)
    for kind in ("human_human", "human_machine", "pseudo_human"):
        for language in ("en", "zh"):
            for _n in range(6):
                factories.add_dialogue(study, kind=kind, language=language)


def test_technical_figures_count_without_pilots(study: Study, clock: Any) -> None:
    launch(study, 20)
    person = Person(factories.ParticipantFactory(study=study, device_class="phone"), clock)
    pilot = Person(factories.ParticipantFactory(study=study, is_pilot=True), clock)
    person.play_round()
    pilot.judge()
    quitter = factories.ParticipantFactory(study=study)
    services.stop(participant=quitter)
    found = technical_of(study)
    assert (found.consented, found.judged, found.finished, found.left) == (2, 1, 1, 1)
    assert (found.answered, found.failed, found.gates) == (5, 0, {"ended": 5})
    assert found.devices == {"": 1, "phone": 1}


def test_pilot_rows_never_enter(study: Study, clock: Any, client: Any) -> None:
    Study.objects.filter(pk=study.pk).update(status="pilot")
    study.refresh_from_db()
    pilot = Person(factories.ParticipantFactory(study=study, is_pilot=True, nickname="Pilot"), clock)
    pilot.play_round("rrrrr")
    Study.objects.filter(pk=study.pk).update(status="open")
    later = Person(Participant.objects.select_related("study").get(pk=pilot.participant.pk), clock)
    later.get("round/1/")
    later.play_round("rrrrr")  # who joined in the pilot stays in it
    verdicts = list(datasets.get("verdicts").rows(study))
    assert len(verdicts) == 10
    assert {row["exclusion"] for row in verdicts} == {"pilot"}
    assert all(sets_of(row) == () for row in verdicts)
    for report in registry.reports:
        if "verdicts" in report.datasets:
            for name in ANALYSIS_SETS:
                assert run_report(report.key, study, Options(name)).basis.n == 0, (report.key, name)
    other = Person(factories.ParticipantFactory(study=study), clock)
    other.play_round()
    other.get("round/1/")
    board = other.get("board/")
    assert "Pilot" not in board.content.decode()
    assert Verdict.objects.filter(study=study, exclusion="").count() == 5


# Pay


def test_pay_an_hour_is_told_and_warned_of(client: Any, cast: Any) -> None:
    study = cast.study
    Study.objects.filter(pk=study.pk).update(pay_floor=Decimal("9.00"), currency="£")
    factories.CompletionFactory(study=study, end_state="done", amount=Decimal("3.00"))
    factories.CompletionFactory(study=study, end_state="technical", amount=Decimal("1.00"))
    for minutes in (10, 18, 24):
        factories.ParticipantFactory(
            study=study,
            end_state="done",
            completed_at=factories.NOW + timedelta(minutes=minutes),
        )
    factories.ParticipantFactory(study=study, end_state="done", is_test=True, completed_at=factories.NOW)
    study.refresh_from_db()
    rows = pay_of(study)
    assert [(row.end_state, row.people, row.minutes, row.hourly, row.below) for row in rows] == [
        ("done", 3, 18.0, 10.0, False)
    ]
    client.force_login(cast.colleague)
    page = reverse("admin:desk_study", args=[study.slug])
    assert "£10.00 an hour" in client.get(page).content.decode()
    assert "Pay is too low." not in client.get(page).content.decode()
    Study.objects.filter(pk=study.pk).update(pay_floor=Decimal("10.01"))
    text = client.get(page).content.decode()
    assert "Pay is too low." in text
    assert "below £10.01" in text

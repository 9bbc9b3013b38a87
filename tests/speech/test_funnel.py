"""How far people come: test participants count nowhere in it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from games.speech.funnel import listening_of, steps_of
from games.speech.models import Round, Trial
from studies.funnel import people_of
from studies.reports import run_report
from tests import factories

pytestmark = pytest.mark.django_db


def test_listening_leaves_test_participants_out() -> None:
    study = factories.StudyFactory()
    for is_test in (False, True, True):
        person = factories.ParticipantFactory(study=study, is_test=is_test)
        round_ = factories.RoundFactory(player__participant=person)
        factories.TrialFactory(round=round_, state=Trial.State.DONE, gate=Trial.Gate.TIMEOUT, known=True)
        factories.TrialFactory(round=round_, position=2, state=Trial.State.FAILED)
    assert listening_of(study)[:4] == (1, 1, 1, 1)


def test_the_study_page_and_the_report_count_the_same_people(client: Client) -> None:
    study = factories.StudyFactory()
    factories.SpeechSettingsFactory(study=study)
    for state in (
        {},
        {"is_pilot": True},
        {"is_test": True},
        {"erased_at": factories.NOW, "end_state": "withdrew"},
    ):
        person = factories.ParticipantFactory(study=study, consented_at=factories.NOW, **state)
        player = factories.SpeechPlayerFactory(participant=person, sound_passed=True)
        factories.RoundFactory(player=player, state=Round.State.FINISHED)
    report = run_report("funnel", study)
    reached = {row["step"]: row["people"] for row in report.tables[0].rows}
    assert {reached[step] for step in ("consented", "sound", "round_1")} == {2}
    assert "Of those who consented, 1 took part in the pilot." in report.notes
    people = people_of(study)
    on_page = {step.key: step.people for step in (*people.steps, *steps_of(study))}
    assert on_page == {step: reached[step] for step in on_page}
    assert (people.pilot, people.erased, people.ended) == (1, 1, {})
    client.force_login(factories.UserFactory(is_superuser=True, is_staff=True))
    page = client.get(reverse("admin:desk_study", args=[study.slug])).content.decode()
    assert "1, in no number above" in page

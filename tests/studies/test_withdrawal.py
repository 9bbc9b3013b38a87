"""Withdrawing with the receipt code: stop, or stop and erase; what goes, what stays, what is next."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.apps import apps
from django.db.models import ForeignKey, Model, OneToOneField

from dialogues.models import Exposure, Verdict
from games.speech.models import Trial
from studies import codes, registry, services
from studies.models import Answer, AuditLine, Consent, EndState, ExportFile, Participant, Rater, Study
from tests import factories
from tests.studies.conftest import PROFILE, Visitor
from turingsite.errors import Conflict, Gone

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def withdraw(visitor: Visitor, participant: Participant, choice: str):
    return visitor.post("withdraw/", {"code": codes.grouped(participant.receipt_code), "choice": choice})


def test_stopping_keeps_what_was_given_and_takes_nothing_more(visitor):
    participant = visitor.arrive()
    services.set_nickname(participant=participant, nickname="Sparrow")
    answer = withdraw(visitor, participant, "stop")
    assert "Nothing more is stored" in answer.content.decode()
    row = visitor.participant()
    assert (row.state, row.end_state, row.nickname) == (Participant.State.WITHDRAWN, EndState.WITHDREW, "")
    assert row.erased_at is None
    assert Answer.objects.count() == 4
    assert not Participant.objects.present().exists()
    late = visitor.post("q/profile/", {**PROFILE, "education": "master"})
    assert late.status_code == 410
    assert Answer.objects.get(question="education").value == "phd"


def test_erasing_leaves_a_row_without_content_and_a_line_without_a_person(make_study):
    study = make_study("panel", recruiter_params=["PROLIFIC_PID"])
    visitor = Visitor("panel")
    before = visitor.arrive("?PROLIFIC_PID=person-1&src=card")
    services.set_nickname(participant=before, nickname="Sparrow")
    export = ExportFile.objects.create(
        study=study, path="x.zip", sha256="0" * 64, created_at=before.joined_at
    )
    other = factories.ParticipantFactory(study=study, nickname="Robin", nickname_key="robln")

    answer = withdraw(visitor, before, "erase")
    assert "has been erased" in answer.content.decode()
    row = Participant.objects.get(pk=before.pk)
    assert row.erased_at is not None
    assert row.code != before.code
    assert (row.nickname, row.recruiter, row.recruiter_key, row.source, row.device_class) == (
        "",
        {},
        "",
        "",
        "",
    )
    assert not Answer.objects.exists()
    assert not Consent.objects.exists()
    assert list(Rater.objects.values_list("participant", flat=True)) == [other.pk]
    export.refresh_from_db()
    assert export.stale_since is not None
    kept = list(AuditLine.objects.filter(action__startswith="participant."))
    assert {line.action for line in kept} == {"participant.withdrew", "participant.erased"}
    words = " ".join(f"{line.target} {line.detail}" for line in kept)
    for secret in (before.code, before.resume_code, before.receipt_code, "Sparrow", "person-1"):
        assert secret not in words
    other.refresh_from_db()
    assert other.nickname == "Robin"


def test_after_erasure_the_browser_gets_a_true_answer(visitor):
    participant = visitor.arrive()
    withdraw(visitor, participant, "erase")
    assert visitor.get("go/").url == visitor.url("debrief/")
    page = visitor.get("debrief/").content.decode()
    assert "Everything you gave has been removed" in page
    assert "a system" not in page
    assert visitor.post("q/profile/", PROFILE).status_code == 410
    assert visitor.post("language/", {"language": "en"}).status_code == 410
    again = withdraw(visitor, participant, "erase")
    assert "has been erased" in again.content.decode()


def test_the_receipt_code_works_without_a_cookie_and_after_the_study_closed(study, visitor):
    participant = visitor.arrive()
    Study.objects.update(status=Study.Status.CLOSED)
    elsewhere = Visitor(study.slug)
    assert elsewhere.get("withdraw/").status_code == 200
    assert withdraw(elsewhere, participant, "erase").status_code == 200
    assert not Answer.objects.exists()
    assert elsewhere.get("debrief/").status_code == 200


def test_erasure_can_be_asked_for_after_stopping_and_after_finishing(activity, visitor):
    participant = visitor.arrive()
    activity.complete.add(participant.pk)
    visitor.get("go/")
    withdraw(visitor, participant, "stop")
    withdraw(visitor, participant, "erase")
    row = visitor.participant()
    assert row.end_state == EndState.DONE  # the pay for what was finished stays
    assert row.erased_at is not None


def test_a_wrong_code_withdraws_nobody(study, visitor):
    participant = visitor.arrive()
    for code in ("", "WRONG", participant.resume_code, participant.code):
        answer = visitor.post("withdraw/", {"code": code, "choice": "erase"})
        assert answer.status_code == 400
    assert visitor.post("withdraw/", {"code": participant.receipt_code}).status_code == 400
    assert not visitor.participant().is_gone


def test_a_code_of_another_study_is_not_known_here(make_study, visitor):
    make_study("other")
    participant = visitor.arrive()
    answer = withdraw(Visitor("other"), participant, "stop")
    assert answer.status_code == 400
    assert not visitor.participant().is_gone


def test_after_the_last_date_people_are_told_and_can_still_stop(study, visitor):
    participant = visitor.arrive()
    Study.objects.update(erasure_until=date(2026, 3, 31), time_zone="Asia/Shanghai")
    answer = withdraw(visitor, participant, "erase")
    assert answer.status_code == 400
    assert "31 March 2026" in answer.content.decode()
    assert not visitor.participant().is_gone
    assert Answer.objects.count() == 4
    assert withdraw(visitor, participant, "stop").status_code == 200


def test_the_last_day_counts_whole_in_the_studys_time_zone(study, visitor):
    participant = visitor.arrive()
    Study.objects.update(erasure_until=date(2026, 3, 31), time_zone="Asia/Shanghai")
    participant.refresh_from_db()
    with pytest.raises(Conflict):
        services.withdraw(
            participant=participant, erase_answers=True, now=datetime(2026, 3, 31, 16, 0, tzinfo=UTC)
        )
    services.withdraw(
        participant=participant, erase_answers=True, now=datetime(2026, 3, 31, 15, 59, tzinfo=UTC)
    )
    assert participant.erased_at is not None


def test_services_take_nothing_from_people_who_left(study, visitor):
    participant = visitor.arrive()
    services.withdraw(participant=participant, erase_answers=False)
    with pytest.raises(Gone):
        services.set_nickname(participant=participant, nickname="Sparrow")
    with pytest.raises(Gone):
        services.choose_language(participant=participant, language="en")
    assert not services.complete(participant=participant)


def models_of_a_person() -> set[str]:
    """Every model from which foreign keys lead to Participant, found by walking back from it."""
    ours = [
        model
        for model in apps.get_models()
        if model.__module__.split(".")[0] not in ("django", "axes", "rest_framework")
    ]
    found: set[type[Model]] = {Participant}
    while True:
        new = {
            model
            for model in ours
            for field in model._meta.get_fields()
            if isinstance(field, ForeignKey | OneToOneField) and field.related_model in found
        } - found
        if not new:
            return {model._meta.label for model in found}
        found |= new


def test_every_model_that_reaches_a_participant_has_an_eraser():
    covered = {model for eraser in registry.erasers for model in eraser.models}
    assert models_of_a_person() - covered == set()


def test_every_model_that_reaches_a_participant_is_in_the_export():
    covered = {model for dataset in registry.datasets for model in dataset.models}
    assert models_of_a_person() - covered == set()


def test_erasing_takes_verdicts_and_exposures_and_empties_what_the_person_said(visitor):
    participant = visitor.arrive()
    trial = factories.TrialFactory(round__player__participant=participant)
    factories.VerdictFactory(rater=participant.rater, dialogue=trial.dialogue)
    spoken = factories.DialogueFactory().parties.get(label="A")
    spoken.rater = participant.rater
    spoken.save()
    spoken.turns.update(text="my own words")
    other = factories.VerdictFactory()
    services.withdraw(participant=participant, erase_answers=True)
    assert list(Verdict.objects.all()) == [other]
    assert not Exposure.objects.exists()
    assert not Trial.objects.exists()
    spoken.refresh_from_db()
    assert spoken.rater is None
    assert set(spoken.turns.values_list("text", flat=True)) == {"[withdrawn]"}


def test_the_guard_sees_rows_behind_rows():
    found = models_of_a_person()
    assert {"studies.Answer", "dialogues.Verdict", "dialogues.Exposure", "speech.Trial"} <= found
    assert "studies.Study" not in found


def test_erasers_name_models_that_exist():
    for eraser in registry.erasers:
        for label in eraser.models:
            assert apps.get_model(label)._meta.label == label

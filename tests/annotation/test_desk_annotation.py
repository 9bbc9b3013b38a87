"""The annotation on the desk over HTTP: set up, progress, settings, invitations, who may do what."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import AnnotationSettings, Annotator, Attempt, BatchItem, Invitation
from annotation.selectors_desk import pool_of, progress_of
from annotation.services.settings import settings_of
from studies.models import AuditLine, Study
from tests import factories
from tests.factories import NOW


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


@pytest.fixture
def study(cast: Any) -> Study:
    """A study scored by three raters, with the cast's researcher, colleague and reviewer."""
    made = factories.annotated_study("scored", dialogues=4, raters=2)
    for member in cast.study.members.all():
        factories.StudyMemberFactory(study=made, user=member.user, role=member.role)
    return made


@pytest.fixture
def researcher(client: Any, cast: Any, study: Study) -> Any:
    client.force_login(cast.researcher)
    return client


SETTINGS = {
    "raters": 5, "expert_raters": 3, "batch_size": 5, "least_batches": 1, "max_batches": 0,
    "lease_minutes": 120, "calibration_dialogues": 10, "calibration_difference": 1.0,
    "calibration_clear": 0.6, "calibration_against": 0.25, "calibration_tries": 3, "gold_share": 0.05,
    "repeat_share": 0.05, "repeat_after_batches": 10, "repeat_after_hours": 24, "reviewers": 3,
    "rate_per_hour": "30.00", "break_minutes": 50, "idle_seconds": 120,
}  # fmt: skip


def test_a_study_is_set_up_with_a_button(client: Any, cast: Any) -> None:
    client.force_login(cast.researcher)
    slug = cast.study.slug
    assert "Set up annotation" in client.get(url("study", slug)).content.decode()
    page = client.get(url("annotation", slug))
    assert page.status_code == 200
    assert "Set up annotation" in page.content.decode()
    assert client.get(url("annotators", slug)).status_code == 404
    done = client.post(url("annotation", slug), follow=True)
    assert AnnotationSettings.objects.get(study=cast.study).raters == 3
    assert "Set up annotation" not in done.content.decode()
    assert url("annotation", slug) in client.get(url("study", slug)).content.decode()


def test_a_colleague_reads_and_decides_nothing(client: Any, cast: Any, study: Study) -> None:
    person = study.participants.order_by("pk")[0]
    client.force_login(cast.colleague)
    read = [
        url("annotation", "scored"), url("annotation_invitations", "scored"), url("annotators", "scored"),
        url("annotator", "scored", person.code), url("references", "scored"), url("taxonomies", "scored"),
    ]  # fmt: skip
    for path in read:
        assert client.get(path).status_code == 200, path
    for path in [*read[:2], *read[3:5]]:
        assert client.post(path, {"do": "pause", "reason": "x"}).status_code == 404, path
    assert client.get(url("annotation_settings", "scored")).status_code == 404
    for user in (cast.reviewer, cast.stranger):
        client.force_login(user)
        assert [client.get(path).status_code for path in read] == [404] * len(read)
    assert not BatchItem.objects.exclude(exclusion="").exists()


def test_progress_counts_finished_raters_by_layer(study: Study) -> None:
    settings = settings_of(study)
    settings.raters = 3
    found = progress_of(settings)
    assert [(one.layer, one.counts, one.left) for one in found.layers] == [("raw", (0, 0, 4, 0), 4)]
    assert (found.batches, found.leases, found.hours, found.timed) == (2, 0, None, 0)
    BatchItem.objects.update(active_seconds=360)
    assert progress_of(settings).minutes == 6
    assert progress_of(settings).hours == pytest.approx(0.4)
    item = BatchItem.objects.order_by("pk")[0]
    item.place, item.exclusion = None, "rater"
    item.save()
    expert = factories.AnnotatorFactory(
        participant=factories.ParticipantFactory(study=study), layer="blind-expert"
    )
    batch = factories.BatchFactory(annotator=expert)
    factories.annotate(factories.BatchItemFactory(batch=batch, dialogue=item.dialogue, layer="blind-expert"))
    found = progress_of(settings)
    assert [one.counts for one in found.layers] == [(0, 1, 3, 0), (3, 1, 0, 0)]
    assert (found.places_left, found.leases) == (5 + 11, 1)


def test_a_batch_in_which_nothing_was_finished_is_not_counted(study: Study) -> None:
    annotator = Annotator.objects.order_by("pk")[0]
    batch = factories.BatchFactory(annotator=annotator, state="finished", finished_at=NOW)
    item = factories.BatchItemFactory(batch=batch, state="failed")
    assert progress_of(settings_of(study)).batches == 2
    factories.annotate(item)
    assert progress_of(settings_of(study)).batches == 3


def test_references_and_dialogues_out_of_play_are_no_work(study: Study) -> None:
    first, second, *_rest = pool_of(study).order_by("pk")
    study.reference_dialogues.create(dialogue=first, role="gold", source="import", added_at=NOW)
    study.items.filter(dialogue=second).update(is_active=False)
    assert set(pool_of(study)).isdisjoint({first, second})
    study.reference_dialogues.update(is_active=False)
    assert first in pool_of(study)


def test_problems_are_told_before_people_come(researcher: Any, study: Study) -> None:
    study.pay_floor, study.currency, study.activities = Decimal(12), "€", ["speech"]
    study.save()
    AnnotationSettings.objects.filter(study=study).update(calibration=True, gold_share=0.1, rate_per_hour=10)
    problems = " ".join(researcher.get(url("annotation", "scored")).context["problems"])
    for words in ("No gold dialogues", "Nobody can join", "below the least pay", "calibration needs"):
        assert words in problems, words


def test_settings_are_stored_and_what_is_fixed_says_so(researcher: Any, study: Study) -> None:
    first = Annotator.objects.filter(participant__study=study).order_by("pk")[0]
    Attempt.objects.create(annotator=first, number=1, started_at=NOW)
    page = researcher.get(url("annotation_settings", "scored"))
    assert page.content.decode().count("people have calibrated") == 3
    assert {
        name for _title, fields in page.context["form"].groups() for name in [f.name for f in fields]
    } == set(page.context["form"].fields)
    assert researcher.post(url("annotation_settings", "scored"), SETTINGS).status_code == 302
    settings = settings_of(study)
    assert (settings.raters, settings.rate_per_hour) == (5, Decimal("30.00"))
    line = AuditLine.objects.get(action="annotation.settings")
    assert line.detail["values"]["raters"] == [2, 5]
    refused = researcher.post(url("annotation_settings", "scored"), SETTINGS | {"calibration_clear": 0.1})
    assert refused.status_code == 400
    assert settings_of(study).calibration_clear == 0.6
    wrong = researcher.post(url("annotation_settings", "scored"), SETTINGS | {"raters": 0})
    assert wrong.status_code == 400
    assert "raters" in wrong.context["form"].errors


def test_invitations_are_made_shown_and_closed(researcher: Any, study: Study) -> None:
    page = url("annotation_invitations", "scored")
    data = {"label": "Round one", "layer": "blind-expert", "places": 3}
    shown = researcher.post(page, data, follow=True).content.decode()
    made = Invitation.objects.get()
    assert (made.label, made.layer, made.places) == ("Round one", "blind-expert", 3)
    assert f"/s/scored/annotation/join/{made.code}/" in shown
    factories.AnnotatorFactory(participant=factories.ParticipantFactory(study=study), invitation=made)
    assert "1 of 3 places taken" in researcher.get(page).content.decode()
    researcher.post(page, {"close": made.code})
    made.refresh_from_db()
    assert made.closed_at is not None
    assert f"/annotation/join/{made.code}/" not in researcher.get(page).content.decode()
    assert AuditLine.objects.filter(action__startswith="invitation.").count() == 2


@pytest.mark.parametrize(
    "bad", [{"layer": "truth-shown"}, {"places": -1}, {"places": "x"}, {"label": "x" * 81}]
)
def test_wrong_invitations_are_refused_at_their_field(
    researcher: Any, study: Study, bad: dict[str, Any]
) -> None:
    data = {"label": "", "layer": "raw", "places": 0} | bad
    answer = researcher.post(url("annotation_invitations", "scored"), data)
    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == list(bad)
    assert not Invitation.objects.exists()


def test_nobody_closes_another_studys_invitation(researcher: Any, study: Study) -> None:
    other = factories.annotated_study("other", dialogues=1, raters=1)
    theirs = Invitation.objects.create(study=other)
    researcher.post(url("annotation_invitations", "scored"), {"close": theirs.code})
    theirs.refresh_from_db()
    assert theirs.closed_at is None

"""What the desk says to somebody new: who can join, what becomes of proposals and places, whom to pay."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import AnnotationSettings, Annotator, BatchItem, Invitation
from annotation.selectors_desk import progress_of
from annotation.services.quality import set_aside
from annotation.services.settings import settings_of
from annotation.services.taxonomies import copy_taxonomy, default_taxonomy
from studies.models import AuditLine, Study
from tests import factories
from tests.factories import NOW

pytestmark = pytest.mark.django_db


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


@pytest.fixture
def study(cast: Any) -> Study:
    made = factories.annotated_study("scored", dialogues=4, raters=2)
    factories.StudyMemberFactory(study=made, user=cast.researcher)
    factories.StudyMemberFactory(study=made, user=cast.colleague, role="colleague")
    return made


@pytest.fixture
def researcher(client: Any, cast: Any, study: Study) -> Any:
    client.force_login(cast.researcher)
    return client


@pytest.mark.parametrize(
    ("status", "words"), [("draft", "is a draft"), ("paused", "is paused"), ("closed", "is closed")]
)
def test_the_overview_says_when_nobody_can_annotate(
    researcher: Any, study: Study, status: str, words: str
) -> None:
    assert "Nobody can join or annotate" not in researcher.get(url("annotation", "scored")).content.decode()
    Study.objects.filter(pk=study.pk).update(status=status)
    shown = researcher.get(url("annotation", "scored")).content.decode()
    assert "Wants attention" in shown
    assert words in shown.split("Wants attention")[1]


def test_places_said_to_be_filled_again_are_those_that_are_missing_then(study: Study) -> None:
    settings = settings_of(study)
    rater = Annotator.objects.order_by("pk")[0]
    known = BatchItem.objects.order_by("pk")[0].dialogue
    study.reference_dialogues.create(dialogue=known, role="gold", source="import", added_at=NOW)
    before = progress_of(settings).places_left
    done = set_aside(annotator=rater, reason="Careless.", now=NOW)
    assert (done.items, done.places) == (4, 3)
    assert progress_of(settings).places_left - before == 3


def test_no_calibration_dialogues_are_proposed_where_nobody_calibrates(researcher: Any, study: Study) -> None:
    page = researcher.get(url("references", "scored"))
    assert "?role=calibration" not in page.content.decode()
    page = researcher.get(url("references", "scored") + "?role=calibration&n=2")
    assert page.context["role"] == "gold"
    AnnotationSettings.objects.update(calibration=True)
    page = researcher.get(url("references", "scored") + "?role=calibration&n=2")
    assert page.context["role"] == "calibration"


def test_a_new_study_of_annotation_is_made_on_the_desk(researcher: Any) -> None:
    assert "Annotation: score dialogues" in researcher.get(url("create")).content.decode()
    researcher.post(
        url("create"),
        {"template": "annotation", "title_en": "Eighteen", "slug": "eighteen", "languages": ["en"]},
    )
    made = Study.objects.get(slug="eighteen")
    assert made.activities == ["annotation"]
    assert settings_of(made).raters == 3


def test_everybody_annotates_by_a_button_while_the_study_is_a_draft(researcher: Any, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(activities=["speech"], status="draft")
    page = url("annotation_settings", "scored")
    assert "Let everybody annotate" in researcher.get(page).content.decode()
    shown = researcher.post(page, {"everybody": "yes"}, follow=True).content.decode()
    study.refresh_from_db()
    assert study.activities == ["speech", "annotation"]
    assert "Let invited people alone annotate" in shown
    assert AuditLine.objects.filter(action="annotation.settings").count() == 1
    Study.objects.filter(pk=study.pk).update(status="open")
    shown = researcher.post(page, {"everybody": "no"}, follow=True).content.decode()
    study.refresh_from_db()
    assert study.activities == ["speech", "annotation"]
    assert "no draft any more" in shown


def test_the_only_activity_stays(researcher: Any, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(status="draft")
    researcher.post(url("annotation_settings", "scored"), {"everybody": "no"})
    study.refresh_from_db()
    assert study.activities == ["annotation"]


def test_pay_names_whom_to_pay_to_those_who_manage_the_study_alone(
    client: Any, cast: Any, researcher: Any, study: Study
) -> None:
    rater = Annotator.objects.order_by("pk")[0]
    rater.invitation = Invitation.objects.create(study=study, label="First round")
    rater.paused_at = NOW
    rater.save()
    rater.participant.recruiter_key = "panel-77"
    rater.participant.user = factories.UserFactory(username="mara")
    rater.participant.save()

    def first() -> dict[str, str]:
        text = client.get(url("annotation_pay", "scored")).content.decode()
        return next(csv.DictReader(io.StringIO(text)))

    row = first()
    assert (row["state"], row["account"], row["recruiter_id"]) == ("paused", "mara", "panel-77")
    assert row["invitation"] == "First round"
    client.force_login(cast.colleague)
    row = first()
    assert (row["account"], row["recruiter_id"], row["invitation"]) == ("", "", "First round")


def test_a_copy_of_a_taxonomy_says_so_in_its_title(study: Study) -> None:
    copy = copy_taxonomy(taxonomy=default_taxonomy(), study=study)
    assert copy.title_en.endswith(" (copy)")
    assert copy_taxonomy(taxonomy=copy, study=study).title_en == copy.title_en

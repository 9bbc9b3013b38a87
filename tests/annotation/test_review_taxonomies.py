"""Scores that a file brought on another taxonomy than the study's are in no review."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import AnnotationSettings, Dimension, ReviewCase, ReviewDecision, Score
from annotation.services.review_cases import refresh_cases
from annotation.services.taxonomies import copy_taxonomy, default_taxonomy
from dialogues.models import Dialogue
from studies.models import Study
from tests import factories
from tests.annotation.reviewers import fresh, make_reviewer
from tests.factories import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(db: None) -> Study:
    """A dialogue by three raters; each has an imported score of another taxonomy, far from the others'."""
    study = factories.annotated_study(dialogues=1)
    AnnotationSettings.objects.update(reviewers=1)
    foreign = copy_taxonomy(taxonomy=default_taxonomy(), study=study).dimensions.get(key="rhythm")
    for value, score in enumerate(Score.objects.filter(dimension__key="rhythm").order_by("pk"), 1):
        factories.ScoreFactory(
            study=study, rater=score.rater, dialogue=score.dialogue, dimension=foreign, value=value
        )
    return study


@pytest.fixture
def case(study: Study) -> ReviewCase:
    refresh_cases(study, NOW)
    return ReviewCase.objects.get()


@pytest.fixture
def foreign(study: Study) -> Dimension:
    return Dimension.objects.get(taxonomy__study=study, key="rhythm")


@pytest.fixture
def ada(study: Study) -> Client:
    client = Client()
    client.force_login(make_reviewer(study, "ada"))
    return client


def approve(client: Client, case: ReviewCase, **data: Any) -> None:
    answer = client.post(
        f"/review/{case.study.slug}/{case.code}/approve/", {"version": fresh(case).version, **data}
    )
    assert answer.status_code == 302


def test_a_lot_approves_what_the_page_shows(case: ReviewCase, foreign: Dimension, ada: Client) -> None:
    assert case.disagreement == 0
    approve(ada, case, lot="all")
    assert ReviewDecision.objects.count() == 54
    assert not ReviewDecision.objects.filter(score__dimension=foreign).exists()
    assert fresh(case).state == "closed"


def test_a_case_decided_row_by_row_closes(case: ReviewCase, ada: Client) -> None:
    for key in default_taxonomy().dimensions.values_list("key", flat=True):
        assert fresh(case).state != "closed"
        approve(ada, case, dimension=key)
    assert fresh(case).state == "closed"


def test_scores_of_another_taxonomy_alone_make_no_case(study: Study, foreign: Dimension) -> None:
    brought = factories.ScoreFactory(study=study, dimension=foreign)
    refresh_cases(study, NOW)
    assert not ReviewCase.objects.filter(dialogue=brought.dialogue).exists()
    assert ReviewCase.objects.get().dialogue == Dialogue.objects.exclude(pk=brought.dialogue_id).get()

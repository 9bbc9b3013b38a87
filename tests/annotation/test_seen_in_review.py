"""Reviewers know the truth: what they score of it is not analysed, whenever their account becomes known."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import AnnotationSettings, BatchItem, ReviewCase
from annotation.services.review_cases import refresh_cases
from dialogues.models import Verdict
from studies.models import Participant, Study
from tests import factories
from tests.annotation.annotating import Rater
from tests.annotation.reviewers import make_reviewer
from tests.clock import Clock
from tests.factories import NOW

pytestmark = [pytest.mark.django_db, pytest.mark.both]


@pytest.fixture
def reviewed(clock: Clock) -> Study:
    """One dialogue that is in review, and wanted from one rater more."""
    study: Study = factories.annotated_study(dialogues=1, raters=1)
    AnnotationSettings.objects.update(raters=1, reviewers=1, calibration=False)
    refresh_cases(study, NOW)
    AnnotationSettings.objects.update(raters=2)
    return study


def opens(study: Study, user: Any) -> int:
    client = Client()
    client.force_login(user)
    case = ReviewCase.objects.get()
    return int(client.get(f"/review/{study.slug}/{case.code}/").status_code)


def tie(rater: Rater, user: Any) -> None:
    """Open an invitation with the cookie of the one and the session of the other."""
    invitation = rater.participant.study.annotation_invitations.create(label="all")
    rater.client.force_login(user)
    rater.get(f"join/{invitation.code}/")
    assert Participant.objects.get(pk=rater.participant.pk).user == user


def said(rater: Rater) -> tuple[str, str, int | None]:
    """What is left out, of the item and its choice, and the place."""
    item = BatchItem.objects.get(rater=rater.participant.rater)
    assert item.state == "finished"
    assert item.scores.count() == 18, "kept all the same"
    return item.exclusion, Verdict.objects.get(annotation_item=item).exclusion, item.place


def test_what_was_known_when_it_was_finished_is_left_out(reviewed: Study, clock: Clock) -> None:
    rater, user = Rater(reviewed, clock), make_reviewer(reviewed, "ada")
    rater.item()
    assert opens(reviewed, user) == 200
    tie(rater, user)
    rater.annotate()
    assert said(rater) == ("known", "known", None)


def test_an_account_that_is_tied_afterwards_takes_it_out_again(reviewed: Study, clock: Clock) -> None:
    rater, user = Rater(reviewed, clock), make_reviewer(reviewed, "ada")
    rater.item()
    assert opens(reviewed, user) == 200
    rater.annotate()
    assert said(rater) == ("", "", 2)
    tie(rater, user)
    assert said(rater) == ("known", "known", None)
    other = Rater(reviewed, clock)
    other.annotate()
    assert said(other) == ("", "", 2)


def test_what_was_scored_before_the_truth_was_seen_was_scored_blind(reviewed: Study, clock: Clock) -> None:
    rater, user = Rater(reviewed, clock), make_reviewer(reviewed, "ada")
    rater.annotate()
    clock.pass_(60)
    assert opens(reviewed, user) == 200
    tie(rater, user)
    assert said(rater) == ("", "", 2)

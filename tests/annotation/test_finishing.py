"""Stopping after enough work, the numbers of batches people see, and where the focus is between batches."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import AnnotationSettings, Annotator, Batch, BatchItem, WorkSession
from studies.models import Participant
from tests import factories
from tests.annotation.annotating import Rater
from tests.annotation.walking import words
from tests.factories import NOW

pytestmark = pytest.mark.django_db


def text(answer: Any) -> str:
    assert answer.status_code == 200, (answer.status_code, answer.headers)
    return words(answer.content.decode())


def done(rater: Rater, batches: int = 1) -> None:
    for _ in range(batches):
        rater.get("")
        number = rater.batch()["goto"]
        rater.client.get(number)


def leave(rater: Rater) -> str:
    return reverse("studies:leave", args=[rater.slug])


def test_who_has_done_enough_finishes_with_a_summary(rater: Rater) -> None:
    AnnotationSettings.objects.update(rate_per_hour=Decimal("30.00"), least_batches=1)
    done(rater)
    WorkSession.objects.filter(annotator=rater.annotator).delete()
    WorkSession.objects.create(
        annotator=rater.annotator, started_at=NOW, last_at=NOW, active_seconds=1200, ended_at=NOW
    )
    pause = rater.get("break/")
    assert pause.context["urls"]["finish"] == rater.url("finish/")
    page = text(rater.get("finish/"))
    assert "Ready to finish" in page
    assert "Dialogues 5 Batches 1 Work 20 min Pay" in page
    assert "10.00" in page
    assert "You can leave whenever you like" not in page
    answer = rater.client.post(leave(rater), {"choice": "stop"})
    assert answer["Location"] == reverse("studies:debrief", args=[rater.slug])
    assert Participant.objects.get().end_state == "done"
    debrief = text(rater.client.get(answer["Location"]))
    assert "Work 20 minutes" in debrief
    assert "10.00" in debrief


def test_who_has_not_done_enough_is_asked_first(rater: Rater) -> None:
    AnnotationSettings.objects.update(least_batches=2)
    done(rater)
    pause = rater.get("break/")
    assert pause.context["urls"]["finish"] == leave(rater)
    assert "Leave the study" in text(pause)
    assert rater.get("finish/").url == leave(rater)
    assert not Participant.objects.get().end_state


def test_batches_of_work_are_counted_without_those_of_calibration(rater: Rater) -> None:
    for number in (1, 2):
        batch = factories.BatchFactory(
            annotator=rater.annotator, number=number, kind="calibration", state="finished",
            finished_at=NOW, seen_at=NOW,
        )  # fmt: skip
        item = factories.annotate(factories.BatchItemFactory(batch=batch, purpose="calibration"))
        BatchItem.objects.filter(pk=item.pk).update(active_seconds=60)
    WorkSession.objects.create(
        annotator=rater.annotator, started_at=NOW, last_at=NOW, active_seconds=600, ended_at=NOW
    )
    rater.get("")
    number = rater.batch()["goto"]
    assert number == rater.url("batch/3/")
    page = text(rater.client.get(number))
    assert "Batch 1" in page
    assert "Batch 3" not in page
    assert "Batches 1 " in page
    assert "2 of it calibration" in page


def test_the_main_action_has_the_focus_between_batches(rater: Rater) -> None:
    rater.get("")
    page = rater.client.get(rater.batch()["goto"]).content.decode()
    assert page.count("autofocus") == 1
    assert f'autofocus aria-describedby="heading" href="{rater.url("")}"' in page
    assert '<h1 id="heading">' in page
    rest = rater.get("break/").content.decode()
    assert rest.count("autofocus") == 1


def test_people_whose_study_has_ended_no_longer_count_as_at_work(rater: Rater) -> None:
    row = Annotator.objects.get()
    assert row.stage == row.get_state_display()
    Participant.objects.update(end_state="done")
    assert Annotator.objects.get().stage == "finished"
    Annotator.objects.update(state="failed")
    assert Annotator.objects.get().stage == Annotator.objects.get().get_state_display() != "finished"
    assert Batch.objects.count() == 0

"""The door of the scoring page: what it sends, what it is told, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine

from annotation.models import BatchItem, Score
from dialogues.models import Verdict
from studies.models import Study
from tests.annotation.annotating import KEYS, Rater, work_study
from tests.speech.conftest import START, Clock

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock() -> Iterator[Clock]:
    with time_machine.travel(START, tick=False) as travel:
        yield Clock(travel)


@pytest.fixture
def study(db: None) -> Study:
    return work_study()


@pytest.fixture
def rater(study: Study, clock: Clock) -> Rater:
    return Rater(study, clock)


def test_a_batch_from_the_first_dialogue_to_the_look_back(rater: Rater) -> None:
    assert rater.get("").url == rater.url("batch/")
    item = rater.item()
    assert (item["position"], item["of"], item["batch"], item["kind"]) == (1, 5, 1, "work")
    said: dict[str, Any] = {}
    for position in range(1, 6):
        item = rater.item()
        assert item["position"] == position
        said = rater.annotate()
    assert said["goto"] == rater.url("batch/1/")
    assert BatchItem.objects.filter(state="finished", place=1).count() == 5
    assert Score.objects.count() == 5 * KEYS
    assert Verdict.objects.filter(activity="annotation", exclusion="").count() == 5

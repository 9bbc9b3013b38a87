"""The door of the scoring page: what it sends, what it is told, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import BatchItem, Score
from dialogues.models import Verdict
from tests.annotation.annotating import KEYS, Rater

pytestmark = pytest.mark.django_db


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

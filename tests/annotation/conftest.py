"""Annotators and a clock that moves when told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import time_machine

from studies.models import Study
from tests.annotation.annotating import Rater, work_study
from tests.speech.conftest import START, Clock


@pytest.fixture
def clock() -> Iterator[Clock]:
    with time_machine.travel(START, tick=False) as travel:
        yield Clock(travel)


@pytest.fixture
def study(db: None) -> Study:
    """Twelve dialogues, three raters each, batches of five; nothing but work."""
    return work_study()


@pytest.fixture
def rater(study: Study, clock: Clock) -> Rater:
    return Rater(study, clock)

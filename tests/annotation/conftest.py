"""Annotators and a clock that moves when told."""

from __future__ import annotations

import pytest

from studies.models import Study
from tests.annotation.annotating import Rater, work_study
from tests.clock import Clock


@pytest.fixture
def study(db: None) -> Study:
    """Twelve dialogues, three raters each, batches of five; nothing but work."""
    return work_study()


@pytest.fixture
def rater(study: Study, clock: Clock) -> Rater:
    return Rater(study, clock)

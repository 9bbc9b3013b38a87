"""The fixed cast of every test, and the clean slate they meet on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.utils import translation

from studies.models import Participant, Study, StudyMember
from tests import factories
from tests.clock import START, Clock


@dataclass(frozen=True)
class Cast:
    """An open study and everybody who may come near it. ``annotator`` is a participant with a login."""

    study: Study
    researcher: Any
    colleague: Any
    reviewer: Any
    stranger: Any  # staff, but of another study
    participant: Participant
    annotator: Participant


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


@pytest.fixture(autouse=True)
def english() -> None:
    """Rules called directly speak the language of the last request; every test begins in the default one."""
    translation.deactivate_all()
    translation.activate("en")


@pytest.fixture
def clock() -> Iterator[Clock]:
    with time_machine.travel(START, tick=False) as travel:
        yield Clock(travel)


@pytest.fixture
def cast(db: None) -> Cast:
    study = factories.StudyFactory(slug="conversations")

    def member(name: str, role: str) -> Any:
        user = factories.UserFactory(username=name, is_staff=True)
        factories.StudyMemberFactory(study=study, user=user, role=role)
        return user

    stranger = factories.UserFactory(username="stranger", is_staff=True)
    factories.StudyMemberFactory(user=stranger)
    return Cast(
        study=study,
        researcher=member("researcher", StudyMember.Role.RESEARCHER),
        colleague=member("colleague", StudyMember.Role.COLLEAGUE),
        reviewer=member("reviewer", StudyMember.Role.REVIEWER),
        stranger=stranger,
        participant=factories.ParticipantFactory(study=study),
        annotator=factories.ParticipantFactory(study=study, user=factories.UserFactory(username="annotator")),
    )

"""What the tests of the review share."""

from __future__ import annotations

from typing import Any

from annotation.models import ReviewCase
from studies.models import Study, StudyMember
from tests import factories


def make_reviewer(study: Study, name: str) -> Any:
    user = factories.UserFactory(username=name, is_staff=True)
    factories.StudyMemberFactory(study=study, user=user, role=StudyMember.Role.REVIEWER)
    return user


def fresh(case: ReviewCase) -> ReviewCase:
    return ReviewCase.objects.get(pk=case.pk)

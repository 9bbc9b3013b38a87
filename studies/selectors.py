"""Reads that span tables, and the doors to a study: what outsiders may not see looks like what does not exist."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.utils.translation import gettext_lazy as _

from studies.models import Study, StudyMember
from turingsite.errors import NotFound


def access_study(slug: str, user: Any = None) -> Study:
    """The study at that address; NotFound where there is none, or where it is a draft of somebody else."""
    study = Study.objects.filter(slug=slug).first()
    if study is None or (study.status == Study.Status.DRAFT and not may_open_desk(user, study)):
        raise NotFound("no_study", _("There is no study at this address. A letter of the link may be missing."))
    return study


def access_desk_study(slug: str, user: Any) -> Study:
    """A study whose desk ``user`` may open; NotFound for everybody else."""
    study = Study.objects.visible_to(user).filter(slug=slug).first() if user.is_authenticated else None
    if study is None:
        raise NotFound("no_study", _("There is no study at this address. A letter of the link may be missing."))
    return study


def may_open_desk(user: Any, study: Study) -> bool:
    """Whether ``user`` is an operator, or a researcher or colleague of ``study``."""
    if user is None or isinstance(user, AnonymousUser) or not user.is_authenticated:
        return False
    return bool(user.is_superuser) or study.members.filter(user=user, role__in=StudyMember.DESK_ROLES).exists()

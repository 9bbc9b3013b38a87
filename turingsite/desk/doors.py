"""Who may do what on the desk, beyond having an account: others get the page of what is missing."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from dialogues.selectors import works_on_desk
from studies.models import Study, StudyMember
from studies.selectors import access_desk_study
from turingsite.errors import DomainError, NotFound
from turingsite.middleware import translated

LOOKED = "desk_looked"  # in the session: studies whose outcomes this person chose to see early


def access_desk(user: Any) -> None:
    """Lets operators, researchers and colleagues of any study in."""
    if not works_on_desk(user):
        raise NotFound("no_page", _("There is nothing at this address."))


def manages(user: Any, study: Study) -> bool:
    """Whether ``user`` may open, close and set up ``study``: its researchers and operators."""
    return bool(user.is_superuser) or (
        study.members.filter(user=user, role=StudyMember.Role.RESEARCHER).exists()
    )


def access_managed_study(slug: str, user: Any) -> Study:
    """A study ``user`` manages; colleagues, too, get the answer for what is missing."""
    study = access_desk_study(slug, user)
    if not manages(user, study):
        raise NotFound("no_page", _("There is nothing at this address."))
    return study


def sees_outcomes(request: HttpRequest, study: Study) -> bool:
    """Whether outcomes may be shown: the study is closed, or this person chose to look early."""
    return study.status == Study.Status.CLOSED or study.pk in request.session.get(LOOKED, [])


def tell(request: HttpRequest, error: DomainError) -> None:
    """Show why a rule said no on the next page, instead of an error page."""
    messages.error(request, translated(error))

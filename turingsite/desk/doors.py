"""Who may do what on the desk, beyond having an account: others get the page of what is missing."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from dialogues.selectors import works_on_desk
from dialogues.targets import outcomes_open
from studies.models import Study, StudyMember
from studies.outcomes import counted_words, counts_of
from studies.refusals import translated
from studies.selectors import access_desk_study
from turingsite.errors import DomainError, NotFound

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
    """Whether outcomes may be shown: closed, at the plan's target, or this person chose to look early."""
    return study.pk in request.session.get(LOOKED, []) or outcomes_open(study)


def confirm_look(request: HttpRequest, study: Study) -> HttpResponse | None:
    """The page that asks before an export is made of a blind study; ``None`` where it may be made.

    What was sent is sent again with the confirmation. The export itself is noted as a look.
    """
    if sees_outcomes(request, study) or request.POST.get("look") == "yes":
        return None
    sent = [(name, value) for name, value in request.POST.items() if name != "csrfmiddlewaretoken"]
    context = {
        "study": study,
        "title": _("Export while the study runs"),
        "sent": sent,
        "counted": counted_words(counts_of(study)),
    }
    return render(request, "desk/plan_confirm.html", context)


def tell(request: HttpRequest, error: DomainError) -> None:
    """Show why a rule said no on the next page, instead of an error page."""
    messages.error(request, translated(error))

"""The address of an invitation: newcomers go on to the study's welcome, people of the study join at once."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.services.annotators import ACTIVITY, annotates
from annotation.services.joining import (
    REFUSALS,
    access_invitation,
    account_of,
    join,
    link_account,
    refusal_of,
)
from studies import access, arrivals, presenters
from studies.models import Participant, Study
from studies.selectors import access_study, current_consent_text


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    study = access_study(slug, request.user)
    invitation = access_invitation(study, code)
    person = account_of(study, request.user) or access.held_by(request, slug)
    if person is not None and (person.end_state or person.is_gone or annotates(person)):
        link_account(person, request.user)
        return _on(person)
    if refused := refusal_of(invitation):
        page = {"study": study, "refused": refused, "message": REFUSALS[refused]}
        response = render(request, "annotation/join.html", page, status=410)
        arrivals.put_down(response, study)
        return response
    if person is None:
        return _to_welcome(request, study, code)
    if request.method == "POST":
        join(participant=person, code=code, user=request.user, now=timezone.now())
        return _on(person)
    text = current_consent_text(study, ACTIVITY)
    page = presenters.consent_page(study, text) if text is not None else {}
    return render(request, "annotation/join.html", {**page, "study": study, "participant": person})


def _on(person: Participant) -> HttpResponse:
    """To where this person is in the study; their browser holds the cookie from now on."""
    response = redirect("studies:go", person.study.slug)
    access.remember(response, person)
    return response


def _to_welcome(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    response = redirect("studies:welcome", study.slug)
    response["Location"] += presenters.forwarded(study, request.GET)
    arrivals.bring(response, study, ACTIVITY, code)
    return response

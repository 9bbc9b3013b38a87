"""The guidelines: read before anything else, and whenever somebody wants to."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.guideline_presenters import guidelines_page
from annotation.services.guidelines import confirm_guidelines, has_confirmed, stamp
from annotation.views.entering import entered
from studies.refusals import translated
from studies.texts import content_language
from turingsite.errors import Conflict, Invalid


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    here = entered(request, slug)
    if isinstance(here, HttpResponse):
        return here
    now, status = timezone.now(), 200
    if request.method == "POST":
        try:
            confirm_guidelines(annotator=here.annotator, stamp=request.POST.get("stamp", ""), now=now)
        except (Conflict, Invalid) as error:
            messages.warning(request, translated(error))
            status = error.status
        else:
            return redirect("annotation:play", slug)
    page = guidelines_page(
        here.participant,
        here.settings,
        confirmed=has_confirmed(here.annotator, here.settings),
        stamp=stamp(here.settings.taxonomy, content_language(), now),
    )
    return render(request, "annotation/guidelines.html", page, status=status)

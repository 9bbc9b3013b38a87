"""The front page: what the site is, and the studies anybody may join."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from studies import presenters
from studies.models import Study


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    studies = Study.objects.listed().order_by("-opened_at", "-created_at")[:50]
    return render(request, "home.html", {"studies": [presenters.study_card(study) for study in studies]})

"""Before the work: what calibration is, how it stands, and the way into the next batch."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.calibration_presenters import calibration_page, feedback_page
from annotation.models import Batch
from annotation.services.calibration import calibration_batch, standing
from annotation.services.guidelines import has_confirmed
from annotation.services.settings import settings_of
from annotation.services.skipping import fails_often
from annotation.views.entering import entered
from studies.models import Study


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def calibration(request: HttpRequest, slug: str) -> HttpResponse:
    """The page of where somebody is; a POST starts or continues a batch."""
    here = entered(request, slug, ended_ok=True)
    if isinstance(here, HttpResponse):
        return here
    if not here.participant.end_state:
        if not has_confirmed(here.annotator, here.settings):
            return redirect("annotation:guidelines", slug)
        if not here.settings.calibration:
            return redirect("annotation:play", slug)
    paused = here.participant.study.status == Study.Status.PAUSED or here.annotator.paused_at is not None
    if request.method == "POST" and not here.participant.end_state and not paused:
        batch = calibration_batch(here.annotator, here.settings, now := timezone.now())
        if batch is None and fails_often(here.annotator, now):
            return redirect("annotation:pause", slug)
        return redirect("annotation:batch" if batch else "annotation:calibration", slug)
    at = standing(here.annotator, here.settings)
    if request.method == "POST" or at.name == "passed":
        return redirect("annotation:play", slug)
    return render(
        request, "annotation/calibration.html", calibration_page(here.participant, here.settings, at)
    )


def feedback(request: HttpRequest, batch: Batch) -> HttpResponse:
    """A finished calibration batch of the person who asks: where they differ from what is known."""
    participant = batch.annotator.participant
    page = feedback_page(batch, participant, settings_of(participant.study))
    return render(request, "annotation/feedback.html", page)

"""Pages around the scoring: the way in, a batch to look back on, one to take back, breaks and waiting."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation import presenters, selectors
from annotation.models import Batch
from annotation.selectors_raters import earned
from annotation.services import batches, sessions
from annotation.services.annotators import annotator_of
from annotation.services.items import settings_for
from annotation.views.calibration import feedback
from annotation.views.edge import place_of, url_of
from studies import access
from studies.models import Study
from studies.selectors import counts_as_done
from studies.views.edge import OPEN, elsewhere

ENDED = {"paused_ok": True, "ended_ok": True, "closed_ok": True}


@never_cache
@require_safe
def play(request: HttpRequest, slug: str) -> HttpResponse:
    """To where the person is."""
    participant = access.participant_of(request, slug, **OPEN)
    place = place_of(participant)
    return elsewhere(request, place["Location"] if isinstance(place, HttpResponse) else url_of(place))


@never_cache
@require_safe
def done(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A finished batch: what calibration showed, or how much work was done."""
    participant = access.participant_of(request, slug, **ENDED)
    batch = selectors.access_batch(participant, number)
    if request.method == "GET":
        batches.mark_seen(batch=batch, now=timezone.now())
    study, annotator, settings = participant.study, batch.annotator, settings_for(participant)
    if batch.kind == Batch.Kind.CALIBRATION:
        return feedback(request, batch)
    over = batches.is_over(annotator, settings)
    more = not over and not participant.end_state and study.status in Study.JOINABLE
    context = presenters.done_page(
        participant,
        batch=selectors.batch_counts(batch),
        total=selectors.work_done(annotator),
        more=more,
        enough=counts_as_done(participant),
    )
    return render(request, "annotation/done.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def returned(request: HttpRequest, slug: str) -> HttpResponse:
    """The time of a batch ran out: what was said is kept, the rest can be taken up again."""
    participant = access.participant_of(request, slug, **OPEN)
    if request.method == "POST":
        return elsewhere(request, url_of(batches.take_up(participant=participant, now=timezone.now())))
    place = place_of(participant)
    if isinstance(place, HttpResponse):
        return elsewhere(request, place["Location"])
    if place.name != "returned" or place.batch is None:
        return elsewhere(request, url_of(place))
    context = presenters.returned_page(place, selectors.batch_counts(place.batch))
    return render(request, "annotation/returned.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def pause(request: HttpRequest, slug: str) -> HttpResponse:
    """A break, or why the person waits. Opening it is resting: the time to the next offer begins anew."""
    participant = access.participant_of(request, slug, **OPEN)
    now = timezone.now()
    if request.method != "HEAD":
        sessions.take_break(participant=participant, now=now)
    if request.method == "POST":
        return redirect("annotation:pause", slug)
    settings, annotator = settings_for(participant), annotator_of(participant, now)
    reason = batches.why_waiting(annotator, settings, now=now)
    context = presenters.break_page(
        participant,
        reason=reason,
        words=annotator.paused_reason if reason == "set_aside" else "",
        total=selectors.work_done(annotator),
        in_batch=annotator.batches.exclude(state=Batch.State.FINISHED).exists(),
        more=reason != "over",
        enough=counts_as_done(participant),
    )
    return render(request, "annotation/break.html", context)


@never_cache
@require_safe
def finish(request: HttpRequest, slug: str) -> HttpResponse:
    """What somebody has done who may stop now; others are asked first what they mean."""
    participant = access.participant_of(request, slug, **OPEN)
    if not counts_as_done(participant):
        return redirect("studies:leave", slug)
    settings, annotator = settings_for(participant), annotator_of(participant, timezone.now())
    context = presenters.finish_page(
        participant, total=selectors.work_done(annotator), pay=earned(annotator, settings)
    )
    return render(request, "annotation/finish.html", context)

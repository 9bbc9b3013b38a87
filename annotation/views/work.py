"""The scoring page and what it sends: save, listening, next, failed, known, keys."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation import presenters
from annotation.services import batches, listening, scoring
from annotation.services.scoring import Saved
from annotation.views.edge import (
    annotator_post,
    answer_place,
    choice_sent,
    item_of,
    place_json,
    place_of,
    report_of,
    scores_sent,
    seconds_of,
    typed_in,
    url_of,
)
from studies import access
from studies.models import Participant
from studies.refusals import error_body, translated
from studies.views.edge import OPEN, Data, answer, elsewhere, flag, is_json
from turingsite.errors import Conflict, Invalid


@never_cache
@require_safe
def batch(request: HttpRequest, slug: str) -> HttpResponse:
    """The current dialogue of the batch; a redirect (``goto``) where the person is elsewhere."""
    participant = access.participant_of(request, slug, **OPEN)
    place = place_of(participant)
    if isinstance(place, HttpResponse):
        return elsewhere(request, place["Location"])
    if is_json(request):
        return JsonResponse(place_json(place))
    if place.name != "batch":
        return redirect(url_of(place))
    return render(request, "annotation/batch.html", presenters.batch_page(place, item_of(place)))


@annotator_post
def save(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    try:
        saved = _save(request, participant, data, code)
    except Conflict as error:
        if error.code != "not_heard" or is_json(request):
            raise
        return _again(request, participant, data, refused=translated(error), status=error.status)
    if is_json(request):
        return _saved(saved, participant)
    if data.get("go") == "next" and not saved.conflicts and not saved.faults:
        return _go_on(request, participant, data, code)
    return _shown(request, saved, participant, data)


def _save(request: HttpRequest, participant: Participant, data: Data, code: str) -> Saved:
    return scoring.save(
        participant=participant,
        code=code,
        now=timezone.now(),
        scores=scores_sent(data),
        choice=choice_sent(data),
        report=report_of(data),
        seconds=seconds_of(data),
        scripted=is_json(request),
    )


def _saved(saved: Saved, participant: Participant) -> HttpResponse:
    """What is stored, with what was changed elsewhere (409) or is wrong (400) beside it."""
    body = presenters.saved_json(saved, participant.study)
    if saved.faults:
        fault = Invalid("bad_scores", _("Some of this could not be stored."), fields=saved.faults)
        return JsonResponse(body | error_body(fault), status=fault.status)
    return JsonResponse(body, status=409 if saved.conflicts else 200)


def _go_on(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    try:
        place = batches.finish_item(participant=participant, code=code, now=timezone.now())
    except Invalid as error:
        if error.code != "incomplete" or is_json(request):
            raise
        return _again(request, participant, data, errors=error.fields, refused=_("Not complete yet"))
    return answer_place(request, place)


def _shown(request: HttpRequest, saved: Saved, participant: Participant, data: Data) -> HttpResponse:
    """Where no script is: the page again, with what is wrong or was changed elsewhere at its place."""
    errors = saved.faults | presenters.differing(saved)
    if errors:
        refused = _("Answered differently elsewhere") if saved.conflicts else _("Not complete yet")
        return _again(request, participant, data, errors=errors, refused=refused)
    messages.success(request, _("Saved."))
    return redirect("annotation:batch", participant.study.slug)


def _again(
    request: HttpRequest,
    participant: Participant,
    data: Data,
    *,
    refused: str,
    errors: Data | None = None,
    status: int = 400,
) -> HttpResponse:
    """A form that is refused: the page with the reason, and with all that was filled in."""
    place = batches.start_or_resume(participant=participant, now=timezone.now())
    if place.name != "batch":
        return redirect(url_of(place))
    context = presenters.batch_page(
        place, item_of(place), errors=errors, refused=refused, typed=typed_in(data)
    )
    return render(request, "annotation/batch.html", context, status=status)


@annotator_post
def hear(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    now = timezone.now()
    found = listening.record_listening(
        participant=participant,
        code=code,
        report=listening.Listening.parse(data),
        now=now,
        seconds=seconds_of(data),
    )
    wait = listening.unlock_in(found, now=now)
    body = {
        "heard": round(found.heard, 3),
        "unlocked": bool(found.gate),
        "unlock_in": None if wait is None or found.gate else round(max(wait, 0.0), 1),
    }
    return answer(request, body, lambda: presenters.address("batch", participant.study))


@annotator_post
def next_(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    return _go_on(request, participant, data, code)


@annotator_post
def failed(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    place = batches.skip_failed(
        participant=participant,
        code=code,
        why=str(data.get("why", "")),
        now=timezone.now(),
        seconds=seconds_of(data),
    )
    return answer_place(request, place)


@annotator_post
def known(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    place = batches.skip_known(
        participant=participant, code=code, now=timezone.now(), seconds=seconds_of(data)
    )
    return answer_place(request, place)


@annotator_post
def keys(request: HttpRequest, participant: Participant, data: Data) -> HttpResponse:
    off = flag(data, "off", True)
    batches.switch_keys(participant=participant, off=off, now=timezone.now())
    return answer(request, {"off": off}, lambda: presenters.address("batch", participant.study))

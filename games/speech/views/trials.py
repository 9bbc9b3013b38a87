"""The trial page and what it sends: listening, verdict, next, failed, known, keys."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games.speech import presenters, services
from games.speech.services import Listening
from games.speech.services.listening import unlock_in
from games.speech.views.edge import answer, answer_place, participant_post, place_json, place_of, url_of
from studies import access
from studies.models import Participant
from studies.views.edge import OPEN, Data, flag, is_json, whole


@never_cache
@require_safe
def trial(request: HttpRequest, slug: str) -> HttpResponse:
    """The current trial; a redirect (``goto``) where the person is elsewhere."""
    participant = access.participant_of(request, slug, **OPEN)
    place = place_of(participant)
    if isinstance(place, HttpResponse):
        return JsonResponse({"goto": place["Location"]}) if is_json(request) else place
    if is_json(request):
        return JsonResponse(place_json(place, participant))
    if place.name != "trial" or place.trial is None:
        return redirect(url_of(place, participant))
    context = presenters.trial_page(
        participant.study, participant, place.trial, following=place.following, settings=place.settings
    )
    return render(request, "speech/trial.html", context)


@participant_post
def listening(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    now = timezone.now()
    found = services.record_listening(
        participant=participant, code=code, report=Listening.parse(data), now=now
    )
    wait = unlock_in(found, now=now)
    body = {
        "heard": round(found.heard, 3),
        "unlocked": bool(found.gate),
        "gate": found.gate,
        "unlock_in": None if wait is None or found.gate else round(max(wait, 0.0), 1),
    }
    return answer(request, participant, body)


@participant_post
def verdict(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    reason = data.get("reason")
    found = services.give_verdict(
        participant=participant,
        code=code,
        choice=str(data.get("choice", "")),
        now=timezone.now(),
        answer_ms=whole(data, "at"),
        confidence=whole(data, "confidence"),
        reason=reason if isinstance(reason, dict) else None,
        report=Listening.parse(data),
        scripted=is_json(request),
    )
    return answer(request, participant, {"stored": True, "choice": found.answer})


@participant_post
def next_(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    place = services.next_trial(participant=participant, code=code, now=timezone.now())
    return answer_place(request, participant, place)


@participant_post
def failed(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    why = str(data.get("why", ""))
    place = services.report_failure(participant=participant, code=code, why=why, now=timezone.now())
    return answer_place(request, participant, place)


@participant_post
def known(request: HttpRequest, participant: Participant, data: Data, code: str) -> HttpResponse:
    found = services.mark_known(
        participant=participant, code=code, known=flag(data, "known", True), now=timezone.now()
    )
    return answer(request, participant, {"known": found.known})


@participant_post
def keys(request: HttpRequest, participant: Participant, data: Data) -> HttpResponse:
    off = flag(data, "off", True)
    services.switch_keys(participant=participant, off=off)
    return answer(request, participant, {"off": off})

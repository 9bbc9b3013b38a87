"""What every view of the game shares: reading a request, finding the person's place, answering as asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from games.speech import presenters, services
from games.speech.services import Place
from studies import access, selectors
from studies.models import Participant
from studies.services import begin
from turingsite.errors import Conflict, DomainError, Invalid, NotFound

P = ParamSpec("P")
Data = dict[str, Any]
LONGEST_BODY = 100_000  # bytes of JSON; the longest honest report, 500 stretches and a reason, has a fifth
OPEN = {"paused_ok": True}  # what was begun may be finished while a study pauses; new rounds wait


def is_json(request: HttpRequest) -> bool:
    """Whether the answer should be JSON: asked for, or the request itself is."""
    accept = request.headers.get("Accept", "")
    asked = "application/json" in accept or request.content_type == "application/json"
    return (asked or request.GET.get("format") == "json") and "text/html" not in accept


def fields_of(request: HttpRequest) -> Data:
    """The fields of a JSON body or a form; in a form, lists and objects are JSON inside their field."""
    if request.content_type == "application/json":
        data = _loaded(_body(request) or b"{}")
        if not isinstance(data, dict):
            raise unreadable()
        return data
    data = dict(request.POST.items())
    for name in ("ranges", "reason"):
        if isinstance(data.get(name), str):
            data[name] = _loaded(data[name] or "null")
    return data


def _body(request: HttpRequest) -> bytes:
    """What was sent, if it all arrived and is no longer than anything the game's pages send."""
    try:
        body = request.body
    except UnreadablePostError as error:  # the line broke while it was on its way
        raise unreadable() from error
    except RequestDataTooBig as error:
        raise too_long() from error
    if len(body) > LONGEST_BODY:
        raise too_long()
    return body


def _loaded(text: bytes | str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise unreadable() from error


def unreadable() -> Invalid:
    return Invalid("unreadable", _("The request cannot be read. Load the page again; you lose nothing."))


def too_long() -> Invalid:
    message = _("The request cannot be read. Load the page again; you lose nothing.")
    return Invalid("too_long", message, status=413)


def whole(data: Data, name: str) -> int | None:
    """A whole number from a field, None where it is missing or empty; Invalid for anything else."""
    value = data.get(name)
    if value in (None, ""):
        return None
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError) as error:
        raise unreadable() from error


def flag(data: Data, name: str, default: bool) -> bool:
    value = data.get(name, default)
    return value in (True, "true", "1", "on")


def place_of(participant: Participant) -> Place | HttpResponse:
    """Where the person is in the game, or the way to what comes before it (language, profile)."""
    if participant.state == Participant.State.CONSENTED:
        step = selectors.position(participant)
        if step.name in ("language", selectors.PROFILE):
            return redirect(step.url)
        begin(participant=participant)
    return services.start_or_resume(participant=participant, now=timezone.now())


def url_of(place: Place, participant: Participant) -> str:
    study = participant.study
    if place.name == "check" and place.check is not None:
        return presenters.address("check", study, place.check.code)
    if place.name == "round" and place.round is not None:
        return presenters.address("round", study, place.round.number)
    if place.name in ("sound", "trial", "pause"):
        return presenters.address(place.name, study)
    return reverse("studies:go", args=[study.slug])


def place_json(place: Place, participant: Participant) -> Data:
    """``trial`` or ``goto``, and ``revealed`` for the item just judged where the study reveals after each."""
    if place.name == "trial" and place.trial is not None:
        body: Data = {
            "trial": presenters.trial_json(place.trial, following=place.following, settings=place.settings)
        }
    else:
        body = {"goto": url_of(place, participant)}
    if place.revealed is not None:
        shown = presenters.reveal(place.revealed, place.settings)
        body["revealed"] = {name: shown[name] for name in ("said", "was", "line")}
    return body


Action = Callable[Concatenate[HttpRequest, Participant, Data, P], HttpResponse]


def participant_post(action: Action[P]) -> Callable[..., HttpResponse]:
    """A POST of a participant: fields read, study and person checked. A form that is refused goes back to
    the game with the reason as a message; JSON gets the error itself.
    """

    @never_cache
    @require_POST
    @wraps(action)
    def view(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        participant = access.participant_of(request, slug, **OPEN)
        try:
            return action(request, participant, fields_of(request), *args, **kwargs)
        except (Conflict, Invalid, NotFound) as error:
            if is_json(request):
                raise
            messages.warning(request, shown(error))
            return redirect("speech:play", slug)

    return view


def shown(error: DomainError) -> str:
    text = _(error.message) if isinstance(error.message, str) else str(error.message)
    return text % error.params if error.params else text


def answer(request: HttpRequest, participant: Participant, body: Data, url: str = "") -> HttpResponse:
    """``body`` as JSON, or for a form a redirect to ``url`` (else to the person's place)."""
    if is_json(request):
        return JsonResponse(body)
    return redirect(url or presenters.address("play", participant.study))

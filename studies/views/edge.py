"""What the pages of all activities share: reading what a participant's browser sends, answering as asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from studies import access
from studies.models import Participant
from studies.refusals import translated
from turingsite.errors import Conflict, Invalid, NotFound

P = ParamSpec("P")
Data = dict[str, Any]
LONGEST_BODY = 100_000  # bytes of JSON; the longest honest report, 500 stretches and a reason, has a fifth
OPEN = {"paused_ok": True}  # what was begun may be finished while a study pauses; what is new waits


def is_json(request: HttpRequest) -> bool:
    """Whether the answer should be JSON: asked for, or the request itself is."""
    accept = request.headers.get("Accept", "")
    asked = "application/json" in accept or request.content_type == "application/json"
    return (asked or request.GET.get("format") == "json") and "text/html" not in accept


def fields_of(request: HttpRequest, nested: Collection[str] = ()) -> Data:
    """The fields of a JSON body or a form; in a form, those named ``nested`` hold JSON."""
    if request.content_type == "application/json":
        data = _loaded(_body(request) or b"{}")
        if not isinstance(data, dict):
            raise unreadable()
        return data
    data = dict(request.POST.items())
    for name in nested:
        if isinstance(data.get(name), str):
            data[name] = _loaded(data[name] or "null")
    return data


def _body(request: HttpRequest) -> bytes:
    """What was sent, if it all arrived and is no longer than anything our pages send."""
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


Action = Callable[Concatenate[HttpRequest, Participant, Data, P], HttpResponse]
View = Callable[..., HttpResponse]


def posting(back: str, nested: Collection[str] = ()) -> Callable[[Action[P]], View]:
    """Decorator for a POST of a participant: fields read, study and person checked.

    A form that is refused goes to ``back`` (a URL name) with the reason as a message; JSON gets the error
    itself.
    """

    def decorator(action: Action[P]) -> View:
        @never_cache
        @require_POST
        @wraps(action)
        def view(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            participant = access.participant_of(request, slug, **OPEN)
            try:
                return action(request, participant, fields_of(request, nested), *args, **kwargs)
            except (Conflict, Invalid, NotFound) as error:
                if is_json(request):
                    raise
                messages.warning(request, translated(error))
                return redirect(back, slug)

        return view

    return decorator


def answer(request: HttpRequest, body: Data, url: Callable[[], str], *, status: int = 200) -> HttpResponse:
    """``body`` as JSON, or for a form a redirect to ``url()``, which only forms pay for."""
    return JsonResponse(body, status=status) if is_json(request) else redirect(url())


def elsewhere(request: HttpRequest, url: str) -> HttpResponse:
    """The way to another page: a redirect, ``goto`` for a script."""
    return JsonResponse({"goto": url}) if is_json(request) else redirect(url)

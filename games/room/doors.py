"""Whose seat a request or a socket is for: the person's own by their cookie; any of a preview for staff."""

from __future__ import annotations

from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import is_same_domain
from django.utils.translation import get_language_from_request
from django.utils.translation import gettext_lazy as _

from games.room.models import Seat
from games.room.selectors import access_seat
from studies import access
from studies.registry import activities
from studies.selectors import may_open_desk
from turingsite.errors import Gone, NotFound

SEAT = "seat"  # the parameter by which a researcher opens one of a preview's seats


def request_of(scope: dict[str, Any]) -> HttpRequest:
    """A socket's opening as a request, with its cookies, session and user."""
    plain = {"ws": "http", "wss": "https"}.get(scope.get("scheme", "ws"), "http")
    request = ASGIRequest({**scope, "method": "GET", "scheme": plain}, BytesIO())
    SessionMiddleware(_nothing).process_request(request)
    AuthenticationMiddleware(_nothing).process_request(request)
    return request


def is_from_here(request: HttpRequest) -> bool:
    """Whether a page of this site opened the socket, by the rule that forms are held to.

    Browsers always say where a page is from. What says nothing is a program, and has no cookies to abuse.
    """
    try:
        host = request.get_host()
    except DisallowedHost:
        return False
    origin = request.headers.get("Origin")
    if origin is None:
        return True
    scheme = "https" if request.is_secure() else "http"
    if origin == f"{scheme}://{host}" or origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    trusted = (urlsplit(one) for one in settings.CSRF_TRUSTED_ORIGINS if "*" in one)
    return any(
        parts.scheme == one.scheme and is_same_domain(parts.netloc, one.netloc.lstrip("*")) for one in trusted
    )


def seat_of(request: HttpRequest, slug: str) -> Seat:
    """The seat this browser may sit at, room and study loaded.

    Gone, Refused as ``access.participant_of``; NotFound ``no_seat``; Gone ``left`` for who has left it.
    """
    code = request.GET.get(SEAT)
    if code is not None:
        return _preview_seat(request, slug, code)
    participant = access.participant_of(request, slug, ended_ok=True, paused_ok=True, closed_ok=True)
    seat = access_seat(participant)
    seat.participant = participant
    if seat.left_at is not None:
        raise Gone("left", _("You have left this game."), {"goto": back(seat)})
    return seat


def onward(slug: str) -> str:
    """Where somebody without a seat is sent: the server knows their place."""
    return reverse("studies:go", args=[slug])


def back(seat: Seat) -> str:
    """Where the person of this seat goes on: in their game, which is there while the study pauses, too."""
    if seat.participant is None or seat.room.game not in activities:
        return onward(seat.room.study.slug)
    return activities.get(seat.room.game).next_url(seat.participant)


def language_of(request: HttpRequest, seat: Seat) -> str:
    """The language that errors are told in: the person's, staff's own in a preview."""
    if request.GET.get(SEAT) is None and seat.participant is not None:
        return seat.participant.interface_language
    return get_language_from_request(request)


def _preview_seat(request: HttpRequest, slug: str, code: str) -> Seat:
    """Others learn nothing, not even whether there is such a seat."""
    seats = Seat.objects.select_related("room__study").filter(room__is_preview=True, room__study__slug=slug)
    seat = seats.filter(code=code[:20]).first()
    if seat is None or not may_open_desk(request.user, seat.room.study):
        raise NotFound("no_seat", _("You have no seat in such a room."))
    return seat


def _nothing(request: HttpRequest) -> HttpResponse:
    raise NotImplementedError  # the middleware is used for what it does before a view

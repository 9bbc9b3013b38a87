"""One shape for everything that goes wrong below /api/: ``{"code", "message", "fields"}``."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from studies.refusals import error_body
from turingsite import views
from turingsite.errors import DomainError

log = logging.getLogger("turingsite.api")

ROOT = "/api/"
CODES = {400: "bad_request", 403: "not_allowed", 404: "not_found", 413: "too_large", 500: "server_error"}


def body(code: str, message: str, fields: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "fields": dict(fields or {})}


def words(status: int) -> str:
    """What a plain status says, in the reader's language."""
    return {
        400: _("This request can't be read."),
        403: _("This is not for you to do."),
        404: _("There is nothing at this address."),
        413: _("This is more than fits here."),
    }.get(status, _("Something went wrong on our side. It has been noted."))


def plain(status: int) -> dict[str, Any]:
    return body(CODES[status], words(status))


def handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's exception handler. Unforeseen faults are logged and signalled as Django does, then answered."""
    if isinstance(error, DomainError):
        answer = Response(error_body(error)["error"], status=error.status)
        if error.retryable:
            answer["Retry-After"] = "60"
    elif isinstance(error, exceptions.APIException):
        answer = _of_framework(error)
    elif isinstance(error, Http404):
        answer = Response(plain(404), status=404)
    elif isinstance(error, PermissionDenied):
        answer = Response(plain(403), status=403)
    elif isinstance(error, RequestDataTooBig):
        answer = Response(plain(413), status=413)
    elif isinstance(error, SuspiciousOperation | BadRequest):
        answer = Response(plain(400), status=400)
    elif settings.DEBUG:
        return None
    else:
        request = context["request"]
        log.error("event=api_fault path_name=%s", request.resolver_match.view_name, exc_info=error)
        got_request_exception.send(sender=None, request=request._request)
        answer = Response(plain(500), status=500)
    set_rollback()
    return answer


def _of_framework(error: exceptions.APIException) -> Response:
    if isinstance(error, exceptions.ValidationError):
        fields = _by_field(error.detail)
        answer = Response(body("invalid", _("Some of this can't be used."), fields), status=400)
    else:
        code, message = str(getattr(error.detail, "code", error.default_code)), str(error.detail)
        if isinstance(error, exceptions.ParseError):
            # Without the parser's own words: they quote what was sent.
            message = _("The body of the request is no JSON object.")
        answer = Response(body(code, message), status=error.status_code)
    if challenge := getattr(error, "auth_header", None):
        answer["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        answer["Retry-After"] = str(math.ceil(wait))
    return answer


def _by_field(detail: Any) -> dict[str, str]:
    """One message by input; what concerns none of them alone is under ``request``."""
    if not isinstance(detail, Mapping):
        return {"request": _joined(detail)}
    return {
        "request" if name in ("non_field_errors", "__all__") else str(name): _joined(messages)
        for name, messages in detail.items()
    }


def _joined(messages: Any) -> str:
    if isinstance(messages, Mapping):
        return " ".join(_joined(part) for part in messages.values())
    if isinstance(messages, list | tuple):
        return " ".join(_joined(part) for part in messages)
    return str(messages)


def _page_or_json(status: int, page: Any) -> Any:
    """Django's answer to what happens before a view is found, in our shape below /api/."""

    def answer(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
        if request.path_info.startswith(ROOT):
            return JsonResponse(plain(status), status=status)
        found: HttpResponse = page(request) if status == 500 else page(request, exception)
        return found

    return answer


bad_request = _page_or_json(400, views.bad_request)
not_allowed = _page_or_json(403, defaults.permission_denied)
not_found = _page_or_json(404, defaults.page_not_found)
server_error = _page_or_json(500, defaults.server_error)

"""Turns domain errors into answers, one handler for pages and for JSON; says the content security policy."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import DataError
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import get_resolver
from django.utils.translation import gettext_lazy as _

from studies.refusals import error_body, translated
from turingsite.errors import DomainError, Invalid, NotFound

log = logging.getLogger("turingsite.errors")
_NUL = re.compile(r"\bNUL\b|\bnull (?:byte|character)")  # as database drivers and the file system word it


def no_client_address(request: HttpRequest) -> str:
    """Addresses of clients are not stored, not even by the login throttle."""
    return ""


def wants_json(request: HttpRequest) -> bool:
    accept = request.headers.get("Accept", "")
    return (
        "application/json" in accept
        or request.content_type == "application/json"
        or request.GET.get("format") == "json"
    ) and "text/html" not in accept


class DomainErrorMiddleware:
    """Answers a DomainError raised by a view with its status, as a page or as JSON."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, DomainError):
            return None
        log.info(
            "code=%s status=%d path_name=%s",
            error.code,
            error.status,
            getattr(request.resolver_match, "view_name", ""),
        )
        return _answer(request, error)


def _answer(request: HttpRequest, error: DomainError) -> HttpResponse:
    if wants_json(request):
        return JsonResponse(error_body(error), status=error.status)
    context = {
        "code": error.code,
        "message": translated(error),
        "status": error.status,
        "params": error.params,
    }
    return render(request, "errors/domain.html", context, status=error.status)


class ReadableMiddleware:
    """Refuses what no view can read, before any looks at it: a form that is too large, text with NUL.

    Stands before the protection against forged forms, which is the first to read one. NUL is refused where a
    database would be asked with it: in an address, and in what forms did not check by themselves.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        if any("\0" in value for value in kwargs.values() if isinstance(value, str)):
            return self._refused(request, NotFound("no_page", _("There is nothing at this address.")))
        if request.method != "POST" or getattr(view, "csrf_exempt", False):
            return None  # such views read by themselves
        try:
            request.POST  # noqa: B018  (read, and kept for whoever reads it next)
        except (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent) as error:
            name = getattr(request.resolver_match, "view_name", "")
            log.warning("code=%s status=413 path_name=%s", type(error).__name__, name)
            return get_resolver().resolve_error_handler(400)(request, exception=error)  # type: ignore[call-arg]
        except UnreadablePostError:
            return None  # the line broke: the view's own words, if anybody still hears them
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, (DataError, ValueError)) or not _NUL.search(str(error)):
            return None
        message = _("This has a character that cannot be shown (%(code)s). Take it out.")
        return self._refused(request, Invalid("characters", message, {"code": "U+0000"}))

    def _refused(self, request: HttpRequest, error: DomainError) -> HttpResponse:
        name = getattr(request.resolver_match, "view_name", "")
        log.warning("code=%s status=%d path_name=%s", error.code, error.status, name)
        return _answer(request, error)


class PolicyMiddleware(CSPMiddleware):
    """The policy's header, put together once: an answer without a policy of its own gets that of the site.

    The library puts it together for every answer, twice, which costs as much as a query.
    """

    OWN = tuple(
        f"_csp_{what}{kind}" for what in ("config", "update", "replace", "exempt") for kind in ("", "_ro")
    )

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)
        self._usual = build_policy()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        own = any(hasattr(response, name) for name in self.OWN)
        if own or settings.DEBUG or getattr(request, "_csp_nonce", None) or HEADER in response:
            return super().process_response(request, response)
        response[HEADER] = self._usual
        return response

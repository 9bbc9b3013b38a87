"""Turns domain errors into answers, one handler for pages and for JSON; says the content security policy."""

from __future__ import annotations

import logging
from collections.abc import Callable

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from studies.refusals import error_body, translated
from turingsite.errors import DomainError

log = logging.getLogger("turingsite.errors")


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
        if wants_json(request):
            return JsonResponse(error_body(error), status=error.status)
        context = {
            "code": error.code,
            "message": translated(error),
            "status": error.status,
            "params": error.params,
        }
        return render(request, "errors/domain.html", context, status=error.status)


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

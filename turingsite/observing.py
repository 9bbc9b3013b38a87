"""The outermost middleware: every request has an id, one line in the log, and its place in the figures."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from turingsite import metrics
from turingsite.logs import request_id, route_of

HEADER = "X-Request-ID"
QUIET = {"health_live", "health_ready", "metrics"}  # asked for by machines, several times a minute

log = logging.getLogger("turingsite.requests")

_ID = re.compile(r"[A-Za-z0-9-]{8,64}")


class ObservingMiddleware:
    """Keeps the id a proxy gave a request, or draws one; says the route, never the address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        name = given if _ID.fullmatch(given) else uuid.uuid4().hex
        token = request_id.set(name)
        start = time.perf_counter()
        try:
            response = self.get_response(request)
            response[HEADER] = name
            _note(request, response.status_code, time.perf_counter() - start)
            return response
        finally:
            request_id.reset(token)


def _note(request: HttpRequest, status: int, seconds: float) -> None:
    route = route_of(request)
    if route == "none" and request.path_info.startswith(settings.STATIC_URL):
        route = "static"
    method = request.method if request.method in metrics.METHODS else "other"
    metrics.observe(view=route, method=str(method), status=status, seconds=seconds)
    if route != "static" and route not in QUIET:
        log.info("event=request method=%s route=%s status=%d ms=%.1f", method, route, status, 1000 * seconds)

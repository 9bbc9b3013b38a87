"""How much a caller may ask for: counted by minute in the cache, by token or account, never by address."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from studies.access import cookie_name
from turingsite.api.models import ApiToken

log = logging.getLogger("turingsite.api")

PERIODS = {"minute": 60, "hour": 3600}


class WindowThrottle(BaseThrottle):
    """So many requests in each whole minute or hour; one atomic step in the cache for each request."""

    scope = ""
    counted = ""  # where the request of this instance was counted

    def caller(self, request: Request, view: Any) -> str | None:
        """Who is counted; None for requests that this brake is not for."""
        raise NotImplementedError

    def allow_request(self, request: Request, view: Any) -> bool:
        caller = self.caller(request, view)
        return caller is None or self.count(caller)

    def count(self, caller: str) -> bool:
        """Note one request of ``caller``; False where it is one too many."""
        most, _slash, period = settings.API_RATES[self.scope].partition("/")
        seconds = PERIODS[period]
        window, into = divmod(time.time(), seconds)
        self.left = seconds - into
        key = f"api.throttle.{self.scope}.{caller}.{int(window)}"
        try:
            cache.add(key, 0, seconds + 5)
            so_far = cache.incr(key)
            self.counted = key
            return bool(so_far <= int(most))
        except (RedisError, ValueError):
            # Without the cache nobody is kept out: the brake is for runaway scripts.
            log.warning("event=api_brake_without_cache scope=%s", self.scope)
            return True

    def wait(self) -> float:
        return self.left


class CallerThrottle(WindowThrottle):
    """Each token, and each account on the desk, on its own."""

    scope = "caller"

    def caller(self, request: Request, view: Any) -> str | None:
        if isinstance(request.auth, ApiToken):
            return f"token.{request.auth.pk}"
        return f"user.{request.user.pk}" if request.user and request.user.is_authenticated else None


class VisitorThrottle(WindowThrottle):
    """Requests without token or login: of one participant by a hash of their cookie, all others together."""

    scope = "visitor"

    def caller(self, request: Request, view: Any) -> str | None:
        if request.user and request.user.is_authenticated:
            return None
        held = request.COOKIES.get(cookie_name(view.kwargs.get("slug", "")), "")
        return salted_hmac("api.throttle", held).hexdigest()[:24] if held else "all"


class ExportThrottle(CallerThrottle):
    """Exports are work: few an hour for each caller. A request that was refused is none."""

    scope = "export"

    def caller(self, request: Request, view: Any) -> str | None:
        return super().caller(request, view) if request.method == "POST" else None

    def give_back(self) -> None:
        """Count the request no more. Counted first all the same: many at once can't slip through together."""
        key, self.counted = self.counted, ""
        if key:
            with contextlib.suppress(RedisError, ValueError):  # nothing to give back to
                cache.decr(key)


class WrongTokenThrottle(WindowThrottle):
    """Tokens that are not known, by their beginning: guessing at one does not keep others out."""

    scope = "wrong_token"

    def brake(self, prefix: str) -> None:
        if not self.count(prefix):
            raise Throttled(self.wait())

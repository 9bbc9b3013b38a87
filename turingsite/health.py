"""Two questions of a supervisor: does the process answer, and can it do its work."""

from __future__ import annotations

import logging
from collections.abc import Callable

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

logger = logging.getLogger("turingsite.health")


@require_safe
@never_cache
def live(request: HttpRequest) -> HttpResponse:
    """The process answers; nothing else is asked, so a slow database does not get it restarted."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def ready(request: HttpRequest) -> HttpResponse:
    """Database, migrations, media directory and broker are usable; 503 names the parts that are not."""
    parts: dict[str, Callable[[], bool]] = {"database": _database, "media": _media}
    if getattr(settings, "REDIS_URL", ""):
        parts["broker"] = _broker
    state = {name: "ok" if works() else "failed" for name, works in parts.items()}
    broken = [name for name, result in state.items() if result != "ok"]
    if broken:
        logger.error("event=not_ready parts=%s", ",".join(broken))
    return JsonResponse(
        {"status": "failed" if broken else "ok", "parts": state}, status=503 if broken else 200
    )


def _database() -> bool:
    try:
        executor = MigrationExecutor(connection)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return False


def _media() -> bool:
    from turingsite.checks import writable

    return writable(settings.MEDIA_ROOT)


def _broker() -> bool:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False

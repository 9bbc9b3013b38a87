"""Production settings of a single server process, which needs no Redis to know of itself."""

from __future__ import annotations

from turingsite.settings.production import *  # noqa: F403

REDIS_URL = ""
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

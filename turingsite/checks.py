"""System checks: combinations of settings that would hurt a running study, each with an id and a hint."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.http.request import validate_host

PRODUCTION = "turingsite.settings.production"
TEST = "turingsite.settings.test"
LOG_FORMATS = ("text", "json")
SHORTEST_TOKEN = 16


@register("turingsite")
def check_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    messages = list(_everywhere())
    if _settings_module() == PRODUCTION:
        messages += _production()
    return messages


def writable(directory: str | Path) -> bool:
    """Whether files can be made in ``directory``, or in the nearest parent that exists."""
    path = Path(directory)
    while not path.exists():
        path = path.parent
    return path.is_dir() and os.access(path, os.W_OK | os.X_OK)


def _settings_module() -> str:
    return os.environ.get("DJANGO_SETTINGS_MODULE", "")


def _everywhere() -> Iterator[CheckMessage]:
    for name in ("MEDIA_ROOT", "EXPORT_ROOT"):
        directory = getattr(settings, name)
        if not writable(directory):
            yield Error(
                f"{name} is not writable.",
                hint=f"Give the user of this process write access to {directory}, or set VAR_DIR.",
                id="turingsite.E001" if name == "MEDIA_ROOT" else "turingsite.E002",
            )
    broker = settings.CELERY_BROKER_URL
    if broker.startswith("memory:") and not settings.EMBEDDED_WORKER and _settings_module() != TEST:
        yield Error(
            "The broker lives in this process's memory, but no embedded worker reads from it.",
            hint="Set EMBEDDED_WORKER = True (one process), or REDIS_URL and separate workers.",
            id="turingsite.E003",
        )
    if settings.EMBEDDED_WORKER and not broker.startswith("memory:"):
        yield Error(
            "An embedded worker is asked for, but tasks go to another broker.",
            hint="Use turingsite.settings.production and separate workers, or the memory broker.",
            id="turingsite.E004",
        )
    accel = settings.MEDIA_X_ACCEL
    if accel and not (accel.startswith("/") and accel.endswith("/")):
        yield Error(
            "MEDIA_X_ACCEL must start and end with a slash.",
            hint="Use the internal location of the proxy, for example /protected/.",
            id="turingsite.E005",
        )
    yield from _operation()


def _operation() -> Iterator[CheckMessage]:
    if settings.METRICS_TOKEN and len(settings.METRICS_TOKEN) < SHORTEST_TOKEN:
        yield Error(
            "METRICS_TOKEN is too short to be a secret.",
            hint="Make one with `openssl rand -hex 24`, or leave it out: then there is no /metrics.",
            id="turingsite.E006",
        )
    if settings.LOG_FORMAT not in LOG_FORMATS:
        yield Error(
            "LOG_FORMAT is neither text nor json.",
            hint="Set LOG_FORMAT=json for lines of JSON, or leave it out for key=value.",
            id="turingsite.E007",
        )
    address = urlsplit(settings.PUBLIC_URL)
    if settings.PUBLIC_URL and (address.scheme not in {"http", "https"} or not address.hostname):
        yield Error(
            "PUBLIC_URL is not an address.",
            hint="Set PUBLIC_URL with its scheme and without a path, for example https://study.example.org.",
            id="turingsite.E008",
        )


def _production() -> Iterator[CheckMessage]:
    if settings.DEBUG:
        yield Error(
            "DEBUG is on in production: pages of errors show settings and data.",
            hint="Remove DEBUG from the settings; it is off there by design.",
            id="turingsite.E010",
        )
    if len(set(settings.SECRET_KEY)) < 10:
        yield Error(
            "SECRET_KEY is not random.",
            hint="Make one with `openssl rand -base64 48` and keep it out of the repository.",
            id="turingsite.E011",
        )
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        yield Warning(
            "Production runs on SQLite: one writer at a time, on one machine.",
            hint="Set DATABASE_URL to postgres://user@host/name for more than a pilot.",
            id="turingsite.W010",
        )
    if urlsplit(settings.REDIS_URL).scheme not in {"redis", "rediss", "unix"}:
        yield Error(
            "REDIS_URL is not an address of Redis.",
            hint="Set REDIS_URL, for example redis://redis:6379/0; workers get their tasks through it.",
            id="turingsite.E012",
        )
    if not settings.ALLOWED_HOSTS or "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS must name the hosts of this site.",
            hint="Set ALLOWED_HOSTS, for example ALLOWED_HOSTS=study.example.org.",
            id="turingsite.E013",
        )
    if not settings.PUBLIC_URL:
        yield Warning(
            "PUBLIC_URL is not set: doctor cannot ask the site from outside.",
            hint="Set PUBLIC_URL, for example PUBLIC_URL=https://study.example.org.",
            id="turingsite.W012",
        )
    yield from _origins()


def _origins() -> Iterator[CheckMessage]:
    origins = [urlsplit(origin) for origin in settings.CSRF_TRUSTED_ORIGINS]
    if not origins or not all(origin.scheme in {"http", "https"} and origin.hostname for origin in origins):
        yield Error(
            "CSRF_TRUSTED_ORIGINS must name the site with its scheme; forms behind a proxy fail without it.",
            hint="Set CSRF_TRUSTED_ORIGINS, for example CSRF_TRUSTED_ORIGINS=https://study.example.org.",
            id="turingsite.E014",
        )
        return
    hosts = settings.ALLOWED_HOSTS
    if hosts and not any(validate_host(str(origin.hostname), hosts) for origin in origins):
        yield Warning(
            "No origin in CSRF_TRUSTED_ORIGINS belongs to a host in ALLOWED_HOSTS.",
            hint="Both should name the address people type.",
            id="turingsite.W011",
        )

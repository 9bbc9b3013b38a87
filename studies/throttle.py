"""A brake on guessing codes: wrong tries count per study and minute, not per person; no address is kept."""

from __future__ import annotations

from django.core.cache import cache

from studies.models import Study
from turingsite.errors import DomainError, gettext_noop

WRONG_TRIES_A_MINUTE = 30
SECONDS = 60


def check(study: Study, what: str) -> None:
    """Raise ``too_many`` (429) while there were too many wrong tries of ``what`` within the last minute."""
    if cache.get(_key(study, what), 0) >= WRONG_TRIES_A_MINUTE:
        message = gettext_noop(
            "Too many wrong codes were tried just now. Wait a minute, then type yours again."
        )
        raise DomainError("too_many", message, status=429, retryable=True)


def count(study: Study, what: str) -> None:
    """Note one wrong try."""
    key = _key(study, what)
    cache.add(key, 0, SECONDS)
    try:
        cache.incr(key)
    except ValueError:
        # It ran out between the two calls: this try opens the next minute.
        cache.set(key, 1, SECONDS)


def _key(study: Study, what: str) -> str:
    return f"studies.throttle.{what}.{study.pk}"

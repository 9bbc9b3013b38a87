"""A brake on guessing codes: wrong tries count per study, minute and first letters of the code.

Not per person (no address is kept), and not per study alone: then one guesser could lock everybody out.
"""

from __future__ import annotations

import logging

from django.core.cache import cache
from redis.exceptions import RedisError

from studies import codes
from studies.models import Study
from turingsite.errors import DomainError, gettext_noop

log = logging.getLogger("turingsite.throttle")

WRONG_TRIES_A_MINUTE = 30
LETTERS = 2  # of a code's twelve or more: what is left stays far beyond guessing
SECONDS = 60


def check(study: Study, what: str, typed: str) -> None:
    """Raise ``too_many`` (429) while there were too many wrong tries at codes that begin like ``typed``."""
    try:
        tries = cache.get(_key(study, what, typed), 0)
    except RedisError:
        # Without the shared cache nobody is kept out: the codes themselves are too long to be guessed.
        log.warning("event=brake_without_cache study=%s", study.pk)
        return
    if tries >= WRONG_TRIES_A_MINUTE:
        message = gettext_noop(
            "Too many wrong codes were tried just now. Wait a minute, then type yours again."
        )
        raise DomainError("too_many", message, status=429, retryable=True)


def count(study: Study, what: str, typed: str) -> None:
    """Note one wrong try."""
    key = _key(study, what, typed)
    try:
        cache.add(key, 0, SECONDS)
        cache.incr(key)
    except ValueError:
        # It ran out between the two calls: this try opens the next minute.
        cache.set(key, 1, SECONDS)
    except RedisError:
        log.warning("event=brake_without_cache study=%s", study.pk)


def _key(study: Study, what: str, typed: str) -> str:
    start = codes.normalise(typed[:100])[:LETTERS]
    known = len(start) == LETTERS and set(start) <= set(codes.ALPHABET)
    return f"studies.throttle.{what}.{study.pk}.{start if known else ''}"

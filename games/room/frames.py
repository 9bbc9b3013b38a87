"""What comes from a page: one JSON object a frame, of a few types, not too long and not too often."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from studies import characters
from turingsite.errors import Invalid, TryLater

Frame = dict[str, Any]
TYPES = ("hello", "send", "act", "typing", "ping")
LONGEST = 16_384  # bytes; the longest message there may be has fewer
LONGEST_WORD = 200  # characters of what is not a text
AT_ONCE, A_SECOND = 40, 8  # frames; pages send one or two a second at most
PATIENCE = 60  # frames beyond that, or unreadable ones, until the socket is closed


def read(text: str | None) -> Frame:
    """The frame in ``text`` (None: it was binary); Invalid ``unreadable`` or ``too_long``, in words."""
    if text is None:
        raise _unreadable()
    if len(text) > LONGEST or len(text.encode("utf-8", "surrogatepass")) > LONGEST:
        raise Invalid("too_long", _("This is too long to be read."), status=413)
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable() from error
    if not isinstance(frame, dict) or frame.get("type") not in TYPES:
        raise _unreadable()
    for name, value in frame.items():
        plain = value is None or isinstance(value, str | int | float)
        if not plain or (name != "text" and isinstance(value, str) and not is_word(value)):
            raise _unreadable()
    return frame


def number(frame: Mapping[str, Any], name: str) -> int | None:
    """A whole number from nought on, or None where there is none."""
    value = frame.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if 0 <= value < 2**31 and value == int(value) else None


def moment(value: Any) -> datetime | None:
    """A time from milliseconds since 1970 by the sender's clock; None for what cannot be one."""
    try:
        return datetime.fromtimestamp(float(value) / 1000, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


class Brake:
    """How often one socket may send. ``spent``: patience used up by what was too much or unreadable."""

    def __init__(self, now: float) -> None:
        self._left = float(AT_ONCE)
        self._at = now
        self.spent = 0.0

    def pull(self, now: float) -> None:
        """One more frame; TryLater ``too_fast`` where it is one too many."""
        passed, self._at = now - self._at, now
        self._left = min(float(AT_ONCE), self._left + passed * A_SECOND)
        self.spent = max(0.0, self.spent - passed)
        if self._left < 1:
            self.spent += 1
            raise TryLater(
                "too_fast", _("Too much at once. Wait a few seconds, then send it again."), status=429
            )
        self._left -= 1

    @property
    def is_abused(self) -> bool:
        return self.spent > PATIENCE


def is_word(value: str) -> bool:
    """Whether a text that is no message is short and of characters that rows can hold."""
    return len(value) <= LONGEST_WORD and not characters.refusal(value)


def _unreadable() -> Invalid:
    return Invalid("unreadable", _("This could not be read. Load the page again; you lose nothing."))

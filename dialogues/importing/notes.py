"""What an import says about a row or a file: a level, a stable code, words and their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

REFUSED, QUESTION, WARNING, NOTE = "refused", "question", "warning", "note"


@dataclass(frozen=True)
class Note:
    """``question`` also refuses the row, until the person answers (for example with --create-systems)."""

    level: str
    code: str
    message: str
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def stops(self) -> bool:
        return self.level in (REFUSED, QUESTION)

    def stored(self) -> dict[str, Any]:
        return {"level": self.level, "code": self.code, "message": self.message, "params": self.params}


def refused(code: str, message: str, /, **params: Any) -> Note:
    return Note(REFUSED, code, message, params)


def question(code: str, message: str, /, **params: Any) -> Note:
    return Note(QUESTION, code, message, params)


def warning(code: str, message: str, /, **params: Any) -> Note:
    return Note(WARNING, code, message, params)


def note(code: str, message: str, /, **params: Any) -> Note:
    return Note(NOTE, code, message, params)


def worded(stored: Mapping[str, Any]) -> str:
    """A stored note in the current language, parameters filled in."""
    text = gettext(stored["message"])
    params = dict(stored.get("params") or {})
    if "why" in params:  # a message within the message
        params["why"] = gettext(params["why"])
    return text % params if params else text


def shortened(text: str, length: int = 60) -> str:
    """What a cell held, safe to print in a report: one line, no control characters, not endless."""
    plain = "".join(c if c.isprintable() else "·" for c in text)
    return plain if len(plain) <= length else plain[: length - 1] + "…"


def any_stops(notes: Iterable[Note]) -> bool:
    return any(n.stops for n in notes)


def result_of(said: Iterable[Note], *, unchanged: bool) -> str:
    """What became of a row: accepted, warned, unchanged or refused."""
    levels = {REFUSED if one.stops else one.level for one in said}
    if REFUSED in levels:
        return REFUSED
    if unchanged:
        return "unchanged"
    return "warned" if WARNING in levels else "accepted"

"""What a check says: how bad it is, in words, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"  # as it is meant, with a limit worth knowing
    WARNING = "warning"  # may hurt, or could not be looked at
    ERROR = "error"  # hurts people or data now


@dataclass(frozen=True)
class Finding:
    """One line of the doctor. ``says`` and ``do`` are msgids with ``%(name)s`` places for ``given``."""

    check: str
    level: Level
    says: Any
    do: Any = ""
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return _filled(self.says, self.given)

    @property
    def advice(self) -> str:
        return _filled(self.do, self.given)

    def as_json(self) -> dict[str, str]:
        return {"check": self.check, "level": self.level.value, "says": self.text, "do": self.advice}


def _filled(words: Any, given: Mapping[str, Any]) -> str:
    text = str(words)
    return text % given if given else text


def ok(check: str, says: Any, **given: Any) -> Finding:
    return Finding(check, Level.OK, says, given=given)


def note(check: str, says: Any, do: Any = "", **given: Any) -> Finding:
    return Finding(check, Level.NOTE, says, do, given)


def warning(check: str, says: Any, do: Any = "", **given: Any) -> Finding:
    return Finding(check, Level.WARNING, says, do, given)


def error(check: str, says: Any, do: Any = "", **given: Any) -> Finding:
    return Finding(check, Level.ERROR, says, do, given)

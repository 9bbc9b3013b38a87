"""What one person was told of a room, line by line: no gap, nothing twice, nothing that tells who it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

#: What a line of the log has, whoever wrote it.
KEYS = {"type", "seq", "kind", "round", "phase", "at", "seat", "text", "data"}
#: What no player may ever be told of a line or a seat.
TELLING = {
    "nature",
    "participant",
    "rater",
    "client_id",
    "client_at",
    "edited",
    "agent",
    "seen_at",
    "left_at",
}


class Log:
    """The lines in their order. ``find`` is told of whatever is wrong."""

    def __init__(self, find: Callable[[str], None]) -> None:
        self.lines: dict[int, Mapping[str, Any]] = {}
        self._find = find

    @property
    def last(self) -> int:
        return max(self.lines, default=0)

    def take(self, line: Mapping[str, Any], after: int) -> int:
        """One line of a tab that has all up to ``after``; what it has now."""
        seq = int(line["seq"])
        if seq != after + 1:
            self._find(f"line {seq} came after line {after}")
        if set(line) != KEYS:
            self._find(f"line {seq} has {sorted(set(line) ^ KEYS)} unlike the others")
        if line["kind"] != "out" and (told := telling(line.get("data"))):
            self._find(f"line {seq} tells {told}")
        if self.lines.setdefault(seq, line) != line:
            self._find(f"line {seq} is not what it was before")
        return seq

    def equals(self, lines: list[Mapping[str, Any]]) -> str:
        """What differs from the server's ``lines``; empty where nothing does, or where they begin alike."""
        for index, line in enumerate(lines, start=1):
            if int(line["seq"]) != index:
                return f"the server's line {index} has the number {line['seq']}"
            if self.lines.get(index, line) != line:
                return f"line {index} is another on the server"
        missing = [seq for seq in range(1, self.last + 1) if seq not in self.lines]
        return f"lines {missing} never came" if missing else ""


def telling(value: Any) -> str:
    """The first key in ``value``, however deep, that tells who somebody is."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in TELLING:
                return str(key)
            if found := telling(inner):
                return found
    if isinstance(value, list):
        for inner in value:
            if found := telling(inner):
                return found
    return ""

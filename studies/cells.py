"""Cells of exported tables: values to text and back, and text that no spreadsheet takes for a formula."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

# What a spreadsheet may read as the start of a formula, the full-width forms of Chinese input included.
_STARTS = frozenset("=+-@|%＝＋－＠")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def guarded(text: str) -> str:
    """``text`` with an apostrophe in front where a spreadsheet could run it; plain numbers stay as they are.

    Text that begins with an apostrophe gets another, so :func:`unguarded` gives back exactly what was there.
    """
    if not text or _NUMBER.fullmatch(text):
        return text
    bare = text.lstrip()
    if text[0] in "'\t\r\n" or (bare and bare[0] in _STARTS):
        return "'" + text
    return text


def unguarded(text: str) -> str:
    """What :func:`guarded` was given."""
    return text[1:] if text.startswith("'") else text


def written(value: Any, kind: str) -> str:
    """A value as the text of its cell: empty for none, ISO 8601 with offset, JSON for objects and arrays."""
    if value is None:
        return ""
    if kind == "string":
        return guarded(str(value))
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "integer":
        return str(int(value))
    if kind == "number":
        number = float(value)
        return repr(number) if math.isfinite(number) else ""
    if kind == "datetime":
        if value.tzinfo is None:
            raise ValueError("times carry their offset")
        return str(value.isoformat())
    if kind == "date":
        return str(value.isoformat())
    if kind in ("object", "array"):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, cls=DjangoJSONEncoder)
    raise ValueError(f"no such type of column: {kind}")


def read(text: str, kind: str) -> Any:
    """The value of a cell: the inverse of :func:`written`. An empty string is "", all else ``None``."""
    if kind == "string":
        return unguarded(text)
    return None if text == "" else _READERS[kind](text)


def plain(value: Any, kind: str) -> Any:
    """A value as JSON holds it: times and days as text, lists and objects as they are."""
    if value is None:
        return None
    if kind in ("datetime", "date"):
        return written(value, kind)
    if kind in ("object", "array"):
        return json.loads(json.dumps(value, cls=DjangoJSONEncoder))
    return value


def from_plain(value: Any, kind: str) -> Any:
    """The inverse of :func:`plain`."""
    if kind in ("datetime", "date") and value is not None:
        return _READERS[kind](value)
    return value


def as_stored(value: Any, kind: str) -> Any:
    """A database value as it would come back from its cell, so that both ways feed a report the same."""
    if kind == "string":
        return "" if value is None else str(value)
    if kind == "datetime" and value is not None:
        return value.astimezone(UTC)
    if kind == "number" and value is not None:
        number = float(value)
        return number if math.isfinite(number) else None
    return value


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"neither true nor false: {text[:20]}")
    return text == "true"


_READERS: dict[str, Callable[[str], Any]] = {
    "boolean": _boolean,
    "integer": int,
    "number": float,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "object": json.loads,
    "array": json.loads,
}

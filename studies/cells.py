"""Cells of exported tables: values to text and back, and text that no spreadsheet takes for a formula.

The same rules in SQL are in ``studies.cells_sql``; a test holds the two to the same bytes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

#: What a spreadsheet may read as the start of a formula, the full-width forms of Chinese input included.
STARTS = "=+-@|%＝＋－＠"
#: Blanks that a spreadsheet may skip before it: what Unicode calls so.
BLANKS = "".join(one for one in map(chr, range(0x3001)) if one.isspace())
#: Text that begins so gets an apostrophe in any case.
ALWAYS = "'\t\r\n"
_RUNS = re.compile(f"[{ALWAYS}]|[{BLANKS}]*[{re.escape(STARTS)}]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def guarded(text: str) -> str:
    """``text`` with an apostrophe in front where a spreadsheet could run it; plain numbers stay as they are.

    Text that begins with an apostrophe gets another, so :func:`unguarded` gives back exactly what was there.
    """
    return "'" + text if _RUNS.match(text) and not _NUMBER.fullmatch(text) else text


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
        number = finite(value)
        return "" if number is None else repr(number)
    if kind == "datetime":
        if value.tzinfo is None:
            raise ValueError("times carry their offset")
        return str(value.isoformat(timespec="microseconds"))
    if kind == "date":
        return str(value.isoformat())
    if kind in ("object", "array"):
        return as_json(value)
    raise ValueError(f"no such type of column: {kind}")


def as_json(value: Any) -> str:
    """JSON as PostgreSQL writes a jsonb, so that either may write it: shorter keys first, no exponents."""
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or value is True or value is False:
        return json.dumps(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return "null"
        number = float.__repr__(value)
        return format(Decimal(number), "f") if "e" in number else "0.0" if number == "-0.0" else number
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (len(str(key).encode("utf-8", "replace")), str(key)))
        return "{" + ", ".join(f"{encode_basestring(str(key))}: {as_json(value[key])}" for key in keys) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(as_json(one) for one in value) + "]"
    return as_json(DjangoJSONEncoder().default(value))


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
        return finite(value)
    return value


def finite(value: Any) -> float | None:
    """The number, where it is one that a cell can hold: not infinite, and not beyond what a double holds."""
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


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

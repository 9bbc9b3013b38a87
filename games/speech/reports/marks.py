"""Rows of the game's tables as marks of a figure: who is judged, which kind, which round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from games.speech.reports.speakers import HUMANS, MACHINES
from studies.figures import Along, Mark, Panel, Sort, listed, scoped
from studies.reports import ReportResult

Row = Mapping[str, Any]

#: How the kinds of dialogue are drawn, wherever they stand.
KINDS: Mapping[str, Sort] = {
    "H-H": "human",
    "H-M": "machine",
    "PH": "machine_open",
    "all": "all",
    "balanced": "all_open",
}


def mark_of(
    row: Row,
    label: str,
    key: str,
    *,
    sort: Sort | None = None,
    n: str = "n",
    prefix: str = "",
    at: float = 0.0,
) -> Mark:
    low90, high90 = row.get("low90"), row.get("high90")
    return Mark(
        label=label,
        value=row.get(key),
        low=row.get(f"{prefix}low"),
        high=row.get(f"{prefix}high"),
        n=row.get(n),
        sort=sort or KINDS.get(str(row.get("kind") or ""), "all"),
        note=str(row.get("note") or ""),
        at=at,
        inner=None if low90 is None or high90 is None else (low90, high90),
    )


def by_speaker(
    result: ReportResult, table: str, key: str, *, rows: Sequence[Row] | None = None, n: str = "n"
) -> list[Panel]:
    """A panel for each language: systems by their value in the first one, all machines, human speakers."""
    scopes = scoped(result, table, listed(result, table) if rows is None else rows)
    first = {row["speaker"]: row.get(key) for row in (scopes[0][2] if scopes else [])}

    def place(row: Row) -> tuple[int, float]:
        speaker, value = str(row["speaker"]), first.get(row["speaker"])
        group = 1 if speaker == MACHINES else 2 if speaker.split(":")[0] == HUMANS else 0
        return (group, 0.0) if group else (0, float("inf") if value is None else -value)

    return [
        Panel(
            words,
            tuple(
                mark_of(row, str(row.get("name") or ""), key, sort=_sort_of(str(row["speaker"])), n=n)
                for row in sorted(own, key=place)
            ),
        )
        for _scope, words, own in scopes
    ]


def _sort_of(speaker: str) -> Sort:
    if speaker == MACHINES:
        return "machine_open"
    if speaker == HUMANS:
        return "human"
    return "human_open" if speaker.startswith(f"{HUMANS}:") else "machine"


def split(rows: Iterable[Row], column: str) -> list[tuple[str, list[Row]]]:
    """Rows by a column, in the order in which its values come."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(str(row.get(column) or ""), []).append(row)
    return list(parts.items())


def _place(level: str) -> int | None:
    """A round's place; the last row holds all later ones. None for "(none)"."""
    number = level.removesuffix("+")
    return int(number) if number.isdecimal() else None


def in_order(
    rows: Iterable[Row], column: str, key: str, prefix: str = "", *, sort: Sort | None = None
) -> tuple[Mark, ...]:
    return tuple(
        mark_of(row, str(row[column]), key, prefix=prefix, sort=sort, at=place)
        for row in rows
        if (place := _place(str(row[column]))) is not None
    )


def rounds(rows: Iterable[Row], column: str) -> Along:
    levels = {place: str(row[column]) for row in rows if (place := _place(str(row[column]))) is not None}
    return Along(
        _("round"),
        (min(levels, default=1) - 0.5, max(levels, default=1) + 0.5),
        tuple((float(place), words) for place, words in sorted(levels.items())),
    )

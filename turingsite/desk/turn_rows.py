"""Turns while they are edited: rows as typed, and the edits that need no script (split, merge, swap, add)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from dialogues.models import Turn
from dialogues.processing.correcting import Corrected

JUDGED, OPENS = "B", "A"
EDIT = re.compile(r"(split|merge|swap|remove)-(\d{1,5})|swap-all|add")


class TurnRow(NamedTuple):
    """A turn as typed. ``was``: the index of the stored turn, "" for a new one. ``errors`` by field."""

    was: str
    speaker: str
    start: str
    end: str
    text: str
    errors: Mapping[str, str] = {}

    @property
    def seconds(self) -> tuple[float | None, float | None]:
        return seconds(self.start), seconds(self.end)


class NoEdit(Exception):
    """The button pressed belongs to no edit, or to a row that is not there."""


def seconds(typed: str) -> float | None:
    """Seconds as people type them, with point or comma; None for what is no number."""
    try:
        value = float(typed.strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def stored(turns: Sequence[Turn]) -> list[TurnRow]:
    return [
        TurnRow(str(turn.index), turn.party.label, shown(turn.start), shown(turn.end), turn.text)
        for turn in turns
    ]


def typed(data: Any) -> list[TurnRow]:
    """The rows of a sent form (a QueryDict); what is missing in a row is empty."""
    columns = [data.getlist(name) for name in ("was", "speaker", "start", "end", "text")]
    count = max((len(column) for column in columns), default=0)
    padded = [[*column, *[""] * (count - len(column))] for column in columns]
    return [TurnRow(*cells) for cells in zip(*padded, strict=True)]


def corrected(rows: Sequence[TurnRow]) -> tuple[list[Corrected], list[TurnRow]]:
    """What the rows ask for, and the rows with what is wrong in their figures; check that none is."""
    asked, told = [], []
    for row in rows:
        start, end = row.seconds
        errors = {
            name: _("Write seconds, for example 3.65.")
            for name, value in (("start", start), ("end", end))
            if value is None
        }
        was = int(row.was) if row.was.isdecimal() and len(row.was) < 7 else None
        asked.append(Corrected(row.speaker.strip().upper(), start or 0.0, end or 0.0, row.text, was))
        told.append(row._replace(errors=errors))
    return asked, told


def with_faults(rows: Sequence[TurnRow], faults: Mapping[str, Any]) -> list[TurnRow]:
    """The rows with the answers of the rule beside their fields (``<row>-<field>``)."""
    return [
        row._replace(
            errors={
                name: str(faults[f"{number}-{name}"])
                for name in ("speaker", "start", "end", "text")
                if f"{number}-{name}" in faults
            }
        )
        for number, row in enumerate(rows)
    ]


def edited(rows: Sequence[TurnRow], do: str, *, at: float | None = None) -> tuple[list[TurnRow], int]:
    """The rows after an edit, and the number of the row to look at. NoEdit for a button that is none.

    ``at``: seconds where to split; outside the turn, or None, its middle.
    """
    match = EDIT.fullmatch(do)
    if match is None:
        raise NoEdit
    made = list(rows)
    if do == "add":
        last = made[-1].seconds[1] if made else 0.0
        other = JUDGED if made and made[-1].speaker == OPENS else OPENS
        made.append(TurnRow("", other, shown(last), shown((last or 0.0) + 1), ""))
        return made, len(made) - 1
    if do == "swap-all":
        return [_swapped(row) for row in made], 0
    number = int(match[2])
    if number >= len(made):
        raise NoEdit
    if match[1] == "swap":
        made[number] = _swapped(made[number])
    elif match[1] == "remove":
        del made[number]
    elif match[1] == "split":
        made[number : number + 1] = _split(made[number], at)
    elif number + 1 < len(made):
        made[number : number + 2] = [_merged(made[number], made[number + 1])]
    return made, min(number, max(len(made) - 1, 0))


def _swapped(row: TurnRow) -> TurnRow:
    return row._replace(speaker=OPENS if row.speaker == JUDGED else JUDGED)


def _split(row: TurnRow, at: float | None) -> list[TurnRow]:
    start, end = row.seconds
    if start is None or end is None or end <= start:
        return [row]
    middle = at if at is not None and start < at < end else (start + end) / 2
    first, second = _words_split(row.text, (middle - start) / (end - start))
    return [
        row._replace(end=shown(middle), text=first),
        TurnRow("", row.speaker, shown(middle), row.end, second),
    ]


def _words_split(text: str, share: float) -> tuple[str, str]:
    """The words before and after the place nearest to ``share`` at which a word or clause ends."""
    places = [match.end() for match in re.finditer(r"\s+|[，。！？；、,.!?;]+\s*", text)]
    if not places:
        return text, ""
    place = min(places, key=lambda end: abs(end - share * len(text)))
    return text[:place].strip(), text[place:].strip()


def _merged(row: TurnRow, other: TurnRow) -> TurnRow:
    known = [value for value in (*row.seconds, *other.seconds) if value is not None]
    chinese = any("\u4e00" <= c <= "\u9fff" for c in row.text + other.text)
    return row._replace(
        was=row.was or other.was,
        start=shown(min(known)) if known else row.start,
        end=shown(max(known)) if known else other.end,
        text=("" if chinese else " ").join(one for one in (row.text.strip(), other.text.strip()) if one),
    )

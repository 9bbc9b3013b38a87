"""Heat maps: a row for each label, a column for each group, the value written in its cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from studies.figures.panels import GAP, LINE, NARROW, WIDE, Layer, Room, concat, framed, pixels, words
from studies.figures.shapes import PALETTE, Axis, Mark, Panel, Spec
from studies.figures.writing import SMALL, cut, folded, width_of

LONGEST_LABEL = 200  # px of a row's name, then an ellipsis
ROW, NARROWEST, WIDEST = 22, 32, 84  # px: height of a cell, least and greatest width
NAME = 17  # px of the line with the row's name above its cells on a phone
SLANT = 130  # px of the longest name of a column
#: The strongest filling: what is written in a cell must be legible on it, by day and by night.
STRONGEST = 0.55


@dataclass(frozen=True)
class _Part:
    """Some of a panel's columns, as many as stand side by side."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, dict[str, Mark]], ...]


def heat(panels: Sequence[Panel], axis: Axis, narrow: bool) -> Spec:
    """``axis``: the scale of the filling, from its low to its high end; its title below."""
    whole = float((NARROW if narrow else WIDE) - 16)
    labels = [mark.label for panel in panels for mark in panel.marks]
    label = 0.0 if narrow else min(float(LONGEST_LABEL), max(map(width_of, labels), default=0.0) + GAP)
    most = max(1, int((whole - label - 8) // NARROWEST))
    parts = [part for panel in panels for part in _parts(panel, most)]
    ends = _span(panels, axis)
    drawn = [_drawn(part, axis, ends, whole, label) for part in parts]
    return concat([*drawn, _foot(axis, ends, whole, label or 8.0)], 1, (24, 12))


def _span(panels: Sequence[Panel], axis: Axis) -> tuple[float, float]:
    """What the filling spans: the values there are, out to half steps, within the axis."""
    values = [mark.value for panel in panels for mark in panel.marks if mark.value is not None]
    low, high = axis.over([])
    if not values:
        return low, high
    start, end = math.floor(2 * min(values)) / 2, math.ceil(2 * max(values)) / 2
    return max(low, start), min(high, max(end, start + 0.5))


def _parts(panel: Panel, most: int) -> list[_Part]:
    columns = list(dict.fromkeys(mark.group for mark in panel.marks))
    rows: dict[str, dict[str, Mark]] = {}
    for mark in panel.marks:
        rows.setdefault(mark.label, {})[mark.group] = mark
    pieces = -(-len(columns) // most)
    each = -(-len(columns) // max(1, pieces))
    return [
        _Part(panel.title if not start else "", tuple(columns[start : start + each]), tuple(rows.items()))
        for start in range(0, len(columns), each)
    ]


def _drawn(part: _Part, axis: Axis, ends: tuple[float, float], whole: float, label: float) -> Spec:
    narrow = not label
    cell = min(float(WIDEST), (whole - label - 8) // len(part.columns))
    step = ROW + (NAME if narrow else 0)
    size = (cell * len(part.columns), float(step * len(part.rows)))
    fits = all(width_of(name, SMALL) <= cell - 6 for name in part.columns)
    head = LINE + 6.0 if fits else min(SLANT, max(width_of(name, SMALL) for name in part.columns)) * 0.72 + 14
    boxes, said, quiet = [], [], []
    for down, (_name, own) in enumerate(part.rows):
        top = down * step + (NAME if narrow else 0)
        for across, column in enumerate(part.columns):
            mark, x = own.get(column), across * cell
            if mark is None:
                continue
            if mark.value is None:
                quiet.append((x + cell / 2, top + ROW / 2, "–"))
                continue
            share = (mark.value - ends[0]) / (ends[1] - ends[0])
            boxes.append(
                {
                    "x": x + 1, "x2": x + cell - 1, "y": top + 1, "y2": top + ROW - 1,
                    "strength": STRONGEST * min(1.0, max(0.0, share)),
                }
            )  # fmt: skip
            said.append((x + cell / 2, top + ROW / 2, axis.words(mark.value)))
    layers: list[Layer] = [
        *_filled(boxes),
        *words(said, align="center", fontSize=SMALL),
        *words(quiet, align="center", fontSize=SMALL, color=PALETTE["ink-2"]),
        *_heads(part.columns, cell, fits),
        *_names(part, step, label, whole),
    ]
    room = Room(left=label or 8.0, right=max(0.0, whole - label - 8 - size[0]), above=head)
    return framed(part.title, size, room, [{}], layers)


def _filled(boxes: list[dict[str, float]]) -> list[Layer]:
    if not boxes:
        return []
    return [
        {
            "data": {"values": boxes},
            "mark": {"type": "rect", "fill": PALETTE["accent"]},
            "encoding": {
                "x": pixels("x"), "x2": {"field": "x2"}, "y": pixels("y"), "y2": {"field": "y2"},
                "fillOpacity": {"field": "strength", "type": "quantitative", "scale": None, "legend": None},
            },
        }
    ]  # fmt: skip


def _heads(columns: Sequence[str], cell: float, fits: bool) -> list[Layer]:
    """Names of the columns, level where they fit, else slanted."""
    if fits:
        placed = [(cell * (at + 0.5), -9.0, name) for at, name in enumerate(columns)]
        return words(placed, align="center", fontSize=SMALL, color=PALETTE["ink-2"])
    placed = [(cell * (at + 0.5) - 2, -7.0, cut(name, SLANT)) for at, name in enumerate(columns)]
    return words(placed, angle=315, fontSize=SMALL, dy=0, color=PALETTE["ink-2"])


def _names(part: _Part, step: int, label: float, whole: float) -> list[Layer]:
    if not label:
        return words(
            [(0.0, at * step + 10.0, cut(name, whole - 20)) for at, (name, _own) in enumerate(part.rows)]
        )
    placed = [
        (-float(GAP), at * step + ROW / 2, cut(name, label - GAP))
        for at, (name, _own) in enumerate(part.rows)
    ]
    return words(placed, align="right")


def _foot(axis: Axis, ends: tuple[float, float], whole: float, left: float) -> Spec:
    """The scale: from its low to its high end, and what it says."""
    steps, wide = 5, 26.0
    low, high = (axis.tick(round(end, 2)) for end in ends)
    start = width_of(low, SMALL) + 6
    boxes = [
        {
            "x": start + at * wide, "x2": start + (at + 1) * wide - 2, "y": 2.0, "y2": 14.0,
            "strength": STRONGEST * (at + 0.5) / steps,
        }
        for at in range(steps)
    ]  # fmt: skip
    lines = folded(axis.title, whole)
    said = [(-left, 30.0 + LINE * at, line) for at, line in enumerate(lines)]
    layers = [
        *_filled(boxes),
        *words(
            [(0.0, 8.0, low), (start + steps * wide + 4, 8.0, high)], fontSize=SMALL, color=PALETTE["ink-2"]
        ),
        *words(said, color=PALETTE["ink-2"]),
    ]
    room = Room(left=left)
    return framed("", (whole - left, 26.0 + LINE * len(lines)), room, [{}], layers)

"""Figures with several marks in a row, as dots on one axis; what each of them is stands above.

Neighbouring marks of the same label are one row; ``group`` says which of them a mark is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from studies.figures.panels import (
    GAP,
    LINE,
    NARROW,
    WIDE,
    Layer,
    Room,
    arrows,
    below,
    coloured,
    concat,
    depth_of,
    domain_of,
    framed,
    pixels,
    ruled,
    scaled,
    symbol,
    values,
    words,
)
from studies.figures.shapes import PALETTE, Axis, Mark, Panel, Sort, Spec
from studies.figures.writing import SMALL, cut, width_of

LONGEST_LABEL = 200  # px, then an ellipsis
APART = 11  # px between the marks of a row
EDGE = 9  # px above and below them
NAME = 18  # px of the line with the name above a row on a phone

Row = tuple[str, list[Mark]]


def dots(panels: Sequence[Panel], axis: Axis, narrow: bool, *, joined: bool = False) -> Spec:
    """Marks of a row below one another along the axis. ``joined``: a hairline from the first to the last."""
    rows = [mark for panel in panels for mark in panel.marks]
    table = Table(panels, narrow)
    keys = keys_of(rows, table)
    last = len(panels) - 1
    drawn = [
        _dots(panel, axis, panels, table, numbered=place == last, joined=joined)
        for place, panel in enumerate(panels)
    ]
    return concat([*keys, *drawn], 1, (24, 14))


class Table:
    """How the width is shared between names and plot, in px; where marks stand.

    ``indent``: room between the names and the plot.
    """

    def __init__(self, panels: Sequence[Panel], narrow: bool, indent: float = 0.0) -> None:
        self.narrow, self.indent = narrow, indent
        self.whole = float((NARROW if narrow else WIDE) - 16)
        marks = [mark for panel in panels for mark in panel.marks]
        names = max((width_of(mark.label) for mark in marks), default=0.0) + GAP
        self.label = 0.0 if narrow else min(float(LONGEST_LABEL), names)
        self.above = NAME if narrow else 0
        counts = max((width_of(_counted(own), SMALL) for _label, own in rows_of(marks)), default=0.0)
        self.count = counts + GAP if counts and not narrow else 0.0
        self.plot = float(int(self.whole - self.label - indent - self.count - 8.0))

    @property
    def sides(self) -> Room:
        return Room(left=(self.label or 8.0) + self.indent, right=self.count + 8.0)

    @property
    def aside(self) -> float:
        """From where the plot begins to the right edge."""
        return self.plot + self.sides.right

    def height(self, own: Sequence[Mark]) -> float:
        return float(2 * EDGE + APART * (len(own) - 1) + self.above + (4 if self.narrow else 2))

    def size(self, marks: Sequence[Mark]) -> tuple[float, float]:
        return self.plot, sum(self.height(own) for _label, own in rows_of(marks))

    def heights(self, marks: Sequence[Mark]) -> list[float]:
        """The middle of each mark."""
        found, top = [], 0.0
        for _label, own in rows_of(marks):
            found += [top + self.above + EDGE + APART * place + 1 for place in range(len(own))]
            top += self.height(own)
        return found

    def names(self, marks: Sequence[Mark]) -> list[Layer]:
        said, counts, top = [], [], 0.0
        for label, own in rows_of(marks):
            middle = top + self.above + EDGE + APART * (len(own) - 1) / 2 + 1
            if self.narrow:
                said.append((-self.indent, top + 9, cut(label, self.plot - 90)))
                counts.append((self.plot, top + 9, _counted(own)))
            else:
                said.append((-self.indent - GAP, middle, cut(label, self.label - GAP)))
                counts.append((self.plot + self.count, middle, _counted(own)))
            top += self.height(own)
        counts = [one for one in counts if one[2]]
        return [
            *words(said, align="left" if self.narrow else "right"),
            *words(counts, align="right", fontSize=SMALL, color=PALETTE["ink-2"]),
        ]

    def notes(self, marks: Sequence[Mark]) -> list[Layer]:
        """Why there is no mark, once a row."""
        heights = dict(zip(map(id, marks), self.heights(marks), strict=True))
        lacking = []
        for _label, own in rows_of(marks):
            first = next((mark for mark in own if mark.value is None and mark.note), None)
            if first is not None:
                lacking.append((6.0, heights[id(first)], first.note))
        return words(lacking, fontSize=SMALL, color=PALETTE["ink-2"])


def rows_of(marks: Sequence[Mark]) -> list[Row]:
    """Neighbouring marks of the same label, as one row."""
    return [(label, list(own)) for label, own in groupby(marks, key=lambda mark: mark.label)]


def _counted(own: Sequence[Mark]) -> str:
    counts = [str(mark.n) for mark in own if mark.n is not None]
    if not counts:
        return ""
    return "n = " + (counts[0] if len(set(counts)) == 1 else " / ".join(counts))


def keys_of(marks: Sequence[Mark], table: Table) -> list[Spec]:
    """A line that says what each symbol is; nothing where all are of one group."""
    known: dict[str, Sort] = {mark.group: mark.sort for mark in marks if mark.group}
    if len(known) < 2:
        return []
    shown, said, x, y = [], [], 6.0, 8.0
    for name, sort in known.items():
        wide = width_of(name) + 34
        if x > 6.0 and x + wide > table.aside:
            x, y = 6.0, y + LINE
        shown.append({"x": x, "y": y, "value": 0, "sort": sort})
        said.append((x + 12, y, name))
        x += wide
    layers = [symbol({"x": pixels("x"), "y": pixels("y")}), *words(said)]
    return [framed("", (table.plot, y + 8.0), table.sides, shown, layers)]


def _dots(
    panel: Panel, common: Axis, panels: Sequence[Panel], table: Table, *, numbered: bool, joined: bool
) -> Spec:
    marks, axis = panel.marks, panel.axis or common
    ends, size = domain_of(panel, common, panels), table.size(panel.marks)
    room = table.sides
    if numbered:
        room = room._replace(below=depth_of(axis, table.whole))
    heights = table.heights(marks)
    layers: list[Layer] = [
        *ruled(axis, ends, "x"),
        *(_joints(marks, heights, ends) if joined else []),
        {
            "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {
                "y": pixels("y"),
                "x": scaled("low", ends),
                "x2": {"field": "high"},
                "color": coloured(),
            },
        },
        *arrows({"y": pixels("y")}, "x", ends),
        symbol({"y": pixels("y"), "x": scaled("value", ends)}, size=64),
        *table.names(marks),
        *table.notes(marks),
        *(below(axis, ends, size, room.left, table.whole) if numbered else []),
    ]
    return framed(panel.title, size, room, values(marks, ends, heights), layers)


def _joints(marks: Sequence[Mark], heights: Sequence[float], ends: tuple[float, float]) -> list[Layer]:
    """Lines between the values of neighbours in a row."""
    placed = dict(zip(map(id, marks), heights, strict=True))
    rows = [
        {"from": one.value, "to": other.value, "y": placed[id(one)], "y2": placed[id(other)]}
        for _label, own in rows_of(marks)
        for one, other in pairwise(own)
        if one.value is not None and other.value is not None
    ]
    if not rows:
        return []
    return [
        {
            "data": {"values": rows},
            "mark": {"type": "rule", "strokeWidth": 1, "color": PALETTE["edge"]},
            "encoding": {
                "x": scaled("from", ends),
                "x2": {"field": "to"},
                "y": pixels("y"),
                "y2": {"field": "y2"},
            },
        }
    ]

"""Figures whose marks stand in rows, each beside its name: intervals and bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from studies.figures.panels import (
    GAP,
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
from studies.figures.shapes import PALETTE, Axis, Mark, Panel, Spec
from studies.figures.writing import counted, cut, width_of, written

LONGEST_LABEL = 260  # px, then an ellipsis
STEP = 24  # px a row
NAME, NUMBERS = 18, 16  # px of the lines above the interval on a phone: its name; its numbers, if spelt


def intervals(
    panels: Sequence[Panel], axis: Axis, narrow: bool, *, columns: int = 1, spelt: bool = True
) -> Spec:
    """A row for each mark: its name, its interval along the axis, its numbers.

    On a phone name and numbers stand above the interval, which then has the whole width. ``spelt``: whether
    the interval is also written.
    """
    columns = 1 if narrow else columns
    table = _Table([mark for panel in panels for mark in panel.marks], axis, narrow, columns, spelt)
    last = (len(panels) - 1) // columns  # the row of panels with the axis below, unless each has its own
    return concat(
        [
            _intervals(
                panel,
                axis if place % columns == 0 else replace(axis, title=""),
                panels,
                table,
                numbered=panel.axis is not None or place // columns == last,
            )
            for place, panel in enumerate(panels)
        ],
        columns,
        (24, 14),
    )


def bars(panels: Sequence[Panel], axis: Axis, narrow: bool) -> Spec:
    """A bar for each mark, from 0, with its number and its note at the end."""
    table = _Table([mark for panel in panels for mark in panel.marks], axis, narrow, 1, False)
    return concat([_bars(panel, axis, panels, table) for panel in panels], 1, (24, 14))


class _Table:
    """How the width is shared between names, plot and numbers, in px; where rows and words stand."""

    def __init__(self, marks: Sequence[Mark], axis: Axis, narrow: bool, columns: int, spelt: bool) -> None:
        self.narrow = narrow
        self.spelt = spelt
        self.whole = float((NARROW if narrow else WIDE) - 16)
        whole = (self.whole - 24 * (columns - 1)) / columns
        names = max((width_of(mark.label) for mark in marks), default=0.0) + GAP
        self.label = 0.0 if narrow else min(float(LONGEST_LABEL), names)
        said = max((width_of(written(mark, axis)) for mark in marks), default=0.0) + GAP
        count = max((width_of(counted(mark)) for mark in marks), default=0.0)
        self.said = said if spelt and not narrow else 0.0
        self.above = (NAME + NUMBERS * spelt) if narrow else 0
        self.count = count + GAP if count and not narrow else 0.0
        self.edge = 8.0 if not (self.said or self.count) else 0.0  # half of a number under the plot's end
        self.plot = float(int(whole - self.label - self.said - self.count - self.edge))

    @property
    def step(self) -> int:
        return STEP - 2 + self.above if self.narrow else STEP

    @property
    def sides(self) -> Room:
        return Room(left=self.label or 8.0, right=self.said + self.count + self.edge)

    def size(self, marks: Sequence[Mark]) -> tuple[float, float]:
        return self.plot, float(self.step * len(marks))

    def heights(self, marks: Sequence[Mark]) -> list[float]:
        """Of the marks: the middle of a row, or the lower part of one with its words above."""
        down = self.above + 9 if self.narrow else self.step / 2
        return [self.step * place + down for place in range(len(marks))]

    def names(self, marks: Sequence[Mark]) -> list[Layer]:
        heights = self.heights(marks)
        if self.narrow:
            room, up = self.plot - 70, self.above - 1
            return words([(0, y - up, cut(mark.label, room)) for mark, y in zip(marks, heights, strict=True)])
        return words(
            [(-GAP, y, cut(mark.label, self.label - GAP)) for mark, y in zip(marks, heights, strict=True)],
            align="right",
        )

    def numbers(self, marks: Sequence[Mark], axis: Axis) -> list[Layer]:
        heights = self.heights(marks)
        up = self.above - 1 if self.narrow else 0
        counts = [
            (self.plot + self.said + self.count, y - up, counted(mark))
            for mark, y in zip(marks, heights, strict=True)
            if mark.n is not None
        ]
        spelt = [
            (0 if self.narrow else self.plot + GAP, y - NUMBERS * self.narrow, written(mark, axis))
            for mark, y in zip(marks, heights, strict=True)
            if mark.value is not None and self.spelt
        ]
        return [*words(spelt), *words(counts, align="right", color=PALETTE["ink-2"])]

    def notes(self, marks: Sequence[Mark]) -> list[Layer]:
        """Why there is no mark, where the mark would be."""
        lacking = [
            (6.0, y, mark.note)
            for mark, y in zip(marks, self.heights(marks), strict=True)
            if mark.value is None and mark.note
        ]
        return words(lacking, color=PALETTE["ink-2"])


def _intervals(panel: Panel, common: Axis, panels: Sequence[Panel], table: _Table, *, numbered: bool) -> Spec:
    marks, axis = panel.marks, panel.axis or common
    ends, size = domain_of(panel, common, panels), table.size(panel.marks)
    room = table.sides
    if numbered:
        room = room._replace(below=depth_of(axis, table.whole))

    def across(start: str, end: str, **mark: Any) -> Layer:
        return {
            "transform": [{"filter": f"isValid(datum['{start}']) && isValid(datum['{end}'])"}],
            "mark": {"type": "rule", **mark},
            "encoding": {
                "y": pixels("y"),
                "x": scaled(start, ends),
                "x2": {"field": end},
                "color": coloured(),
            },
        }

    layers = [
        *ruled(axis, ends, "x"),
        across("low", "high", strokeWidth=2),
        across("from", "to", strokeWidth=6),
        *arrows({"y": pixels("y")}, "x", ends),
        symbol({"y": pixels("y"), "x": scaled("value", ends)}),
        *table.names(marks),
        *table.numbers(marks, axis),
        *table.notes(marks),
        *(below(axis, ends, size, room.left, table.whole) if numbered else []),
    ]
    return framed(panel.title, size, room, values(marks, ends, table.heights(marks)), layers)


def _bars(panel: Panel, axis: Axis, panels: Sequence[Panel], table: _Table) -> Spec:
    marks, size = panel.marks, table.size(panel.marks)
    said = [" · ".join(part for part in (written(mark, axis), mark.note) if part) for mark in marks]
    room = max(map(width_of, said), default=0.0) + GAP
    _low, high = domain_of(panel, axis, panels)
    ends = (0.0, high * size[0] / max(1.0, size[0] - room))  # the number stands beyond the bar
    numbers = [
        (size[0] * (mark.value or 0.0) / ends[1] + GAP / 2, y, text)
        for mark, y, text in zip(marks, table.heights(marks), said, strict=True)
    ]
    bar: Layer = {
        "transform": [{"filter": "isValid(datum.value)"}],
        "mark": {"type": "rule", "strokeWidth": 14, "color": PALETTE["accent"]},
        "encoding": {"y": pixels("y"), "x": scaled("zero", ends), "x2": {"field": "value"}},
    }
    rows = [{**row, "zero": 0} for row in values(marks, ends, table.heights(marks))]
    return framed(panel.title, size, table.sides, rows, [bar, *words(numbers), *table.names(marks)])

"""Distributions as stacked bars: a scale from light to dark, what is beyond it as an outline."""

from __future__ import annotations

from collections.abc import Sequence

from studies.figures.grouped import Table, keys_of
from studies.figures.panels import (
    LINE,
    Channels,
    Layer,
    below,
    concat,
    depth_of,
    framed,
    pixels,
    ruled,
    scaled,
    symbol,
    words,
)
from studies.figures.shapes import PALETTE, Axis, Panel, Spec
from studies.figures.writing import width_of

SWATCH, BAR = 12, 10  # px
SIGN = 16.0  # px for the symbol left of a bar
#: How strongly the parts of the scale are filled, from the first to the last.
STRENGTHS = (0.12, 0.3, 0.5, 0.74, 1.0)
ENDS = (0.0, 1.0)

Box = dict[str, float]


def stacks(panels: Sequence[Panel], axis: Axis, narrow: bool, *, parts: Sequence[str]) -> Spec:
    """A bar of shares for each mark. ``parts``: words of the shares, those of the scale first.

    Neighbouring marks of the same label are one row.
    """
    marks = [mark for panel in panels for mark in panel.marks]
    table = Table(panels, narrow, SIGN if any(mark.group for mark in marks) else 0.0)
    last = len(panels) - 1
    drawn = [
        _stacks(panel, axis, table, len(parts), numbered=place == last) for place, panel in enumerate(panels)
    ]
    return concat([_scale(parts, table), *keys_of(marks, table), *drawn], 1, (24, 12))


def _scale(parts: Sequence[str], table: Table) -> Spec:
    """A line that says which filling is which part."""
    boxes: list[Box] = []
    said, x, y = [], 0.0, 8.0
    for place, name in enumerate(parts):
        wide = SWATCH + width_of(name) + 22
        if x and x + wide > table.aside:
            x, y = 0.0, y + LINE + 2
        boxes.append({"part": place, "from": x, "to": x + SWATCH, "top": y - 6, "bottom": y + 6})
        said.append((x + SWATCH + 5, y, name))
        x += wide
    layers = [*_filled(boxes, len(parts), pixels("from")), *words(said)]
    return framed("", (table.plot, y + 8.0), table.sides, [{}], layers)


def _stacks(panel: Panel, axis: Axis, table: Table, parts: int, *, numbered: bool) -> Spec:
    marks, size = panel.marks, table.size(panel.marks)
    room = table.sides
    if numbered:
        room = room._replace(below=depth_of(axis, table.whole))
    boxes: list[Box] = []
    signs = []
    for mark, y in zip(marks, table.heights(marks), strict=True):
        start = 0.0
        for place, share in enumerate(mark.parts):
            where = {"from": start, "to": start + share, "top": y - BAR / 2, "bottom": y + BAR / 2}
            boxes += [{"part": place, **where}] if share > 0 else []
            start += share
        if table.indent and mark.parts:
            signs.append({"x": -table.indent / 2 - 1, "y": y, "value": 0, "sort": mark.sort})
    layers: list[Layer] = [
        *ruled(axis, ENDS, "x"),
        *_filled(boxes, parts, scaled("from", ENDS)),
        {"data": {"values": signs}, **symbol({"x": pixels("x"), "y": pixels("y")}, size=46)},
        *table.names(marks),
        *table.notes(marks),
        *(below(axis, ENDS, size, room.left, table.whole) if numbered else []),
    ]
    return framed(panel.title, size, room, [{}], layers)


def _filled(boxes: list[Box], parts: int, start: Channels) -> list[Layer]:
    """Boxes from ``from`` to ``to``: parts of the scale filled more and more, the others outlined."""
    made: list[Layer] = []
    for place in range(parts):
        own = [box for box in boxes if box["part"] == place]
        if not own:
            continue
        within = place < len(STRENGTHS)
        fill = {"fillOpacity": STRENGTHS[place] if within else 0.0}
        edge = PALETTE["accent"] if within else PALETTE["edge"]
        made.append(
            {
                "data": {"values": own},
                "mark": {
                    "type": "rect", "fill": PALETTE["accent"], "stroke": edge, "strokeWidth": 0.75, **fill,
                },
                "encoding": {
                    "x": start, "x2": {"field": "to"}, "y": pixels("top"), "y2": {"field": "bottom"},
                },
            }
        )  # fmt: skip
    return made

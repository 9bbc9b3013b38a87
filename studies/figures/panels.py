"""The specification around the marks, in Vega-Lite: panels with their frames, axes, lines, words, symbols."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from studies.figures.shapes import PALETTE, SORTS, Axis, Mark, Panel, Spec
from studies.figures.writing import SMALL, TEXT, folded

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
WIDE, NARROW = 720, 340  # px of a whole figure: a page's column or a printed one; a phone
GAP = 10  # px between a plot and the words beside it
LINE = 16  # px from one line of words to the next
HEADING = 24  # px above a panel that has a heading

Layer = dict[str, Any]
Channels = dict[str, Any]
#: Words at a place of a panel, in px from the plot's upper left corner.
Words = tuple[float, float, str]

_NAMES = list(SORTS)


class Room(NamedTuple):
    """Room around a plot for its words, in px."""

    left: float = 0
    right: float = 0
    above: float = 0
    below: float = 0


def finished(body: Spec, title: str, subtitle: str) -> Spec:
    """A whole specification: panels under a title that says what they rest on."""
    return {
        "$schema": SCHEMA,
        "title": {
            "text": title,
            "subtitle": subtitle,
            "anchor": "start",
            "frame": "bounds",
            "fontSize": 15,
            "fontWeight": 600,
            "color": PALETTE["ink"],
            "subtitleFontSize": TEXT,
            "subtitleColor": PALETTE["ink-2"],
            "subtitlePadding": 5,
            "offset": 14,
        },
        "background": PALETTE["ground"],
        "padding": 8,
        **body,
        "config": {"aria": False, "font": "sans-serif", "view": {"stroke": None}},
    }


def concat(panels: list[Spec], columns: int, spacing: tuple[int, int]) -> Spec:
    """Panels side by side and below one another; ``spacing`` between columns and rows, in px."""
    return {"concat": panels, "columns": columns, "spacing": {"column": spacing[0], "row": spacing[1]}}


def framed(
    title: str, size: tuple[float, float], room: Room, rows: list[dict[str, Any]], layers: Iterable[Layer]
) -> Spec:
    """One panel: its heading, its layers over ``rows``. An unseen frame keeps the room for its words."""
    width, height = size
    above = room.above + (HEADING if title else 0)
    frame: Layer = {
        "data": {"values": [{}]},
        "mark": {"type": "rect", "fillOpacity": 0, "strokeOpacity": 0},
        "encoding": {
            "x": {"value": -room.left},
            "x2": {"value": width + room.right},
            "y": {"value": -above},
            "y2": {"value": height + room.below},
        },
    }
    heading = words([(-room.left, -above + 8, title)] if title else [], fontSize=13, fontWeight=600)
    return {
        "width": width,
        "height": height,
        "data": {"values": rows},
        "layer": [frame, *layers, *heading],
    }


def domain_of(panel: Panel, axis: Axis, panels: Sequence[Panel]) -> tuple[float, float]:
    """The ends of a panel's axis: its own, or one for all."""
    if panel.axis is not None:
        return panel.axis.over(panel.marks)
    return axis.over(mark for one in panels if one.axis is None for mark in one.marks)


def scaled(field: str, ends: tuple[float, float]) -> Channels:
    """A position along the axis of values."""
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": list(ends), "nice": False, "zero": False},
        "axis": None,
    }


def pixels(field: str) -> Channels:
    """A position in px."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def ruled(axis: Axis, ends: tuple[float, float], channel: str) -> list[Layer]:
    """What lies behind the marks: band, hairlines at the ticks, dashed line. ``channel``: x or y."""

    def rules(places: Sequence[float], **mark: Any) -> Layer:
        return {
            "data": {"values": [{"at": place} for place in places]},
            "mark": {"type": "rule", **mark},
            "encoding": {channel: scaled("at", ends)},
        }

    made = []
    if axis.band is not None:
        made.append(
            {
                "data": {"values": [{"from": axis.band[0], "to": axis.band[1]}]},
                "mark": {"type": "rect", "color": PALETTE["sunk"]},
                "encoding": {channel: scaled("from", ends), f"{channel}2": {"field": "to"}},
            }
        )
    made.append(rules(axis.marked(ends), color=PALETTE["line"]))
    if axis.line is not None:
        made.append(rules([axis.line], color=PALETTE["ink-2"], strokeDash=[4, 4], strokeWidth=1.25))
    return made


def below(
    axis: Axis, ends: tuple[float, float], size: tuple[float, float], left: float, whole: float
) -> list[Layer]:
    """Numbers of an axis under the plot and what it counts, at most ``whole`` px wide: ``depth_of`` px."""
    width, height = size
    low, high = ends
    numbers = [(width * (at - low) / (high - low), height + LINE, axis.tick(at)) for at in axis.marked(ends)]
    lines = folded(axis.title, whole)
    named = [(-left, height + LINE * (2 + place) + 4, line) for place, line in enumerate(lines)]
    return [
        *words(numbers, align="center", fontSize=SMALL, color=PALETTE["ink-2"]),
        *words(named, color=PALETTE["ink-2"]),
    ]


def depth_of(axis: Axis, width: float) -> float:
    """Room that ``below`` takes in a figure of that width, in px."""
    return LINE * (1 + len(folded(axis.title, width))) + 18


def words(placed: Sequence[Words], **mark: Any) -> list[Layer]:
    """Words at places of a panel, each centred on its height; no layer where there are none."""
    if not placed:
        return []
    look = {"align": "left", "baseline": "alphabetic", "dy": 4, "fontSize": TEXT, "color": PALETTE["ink"]}
    return [
        {
            "data": {"values": [{"x": x, "y": y, "words": said} for x, y, said in placed]},
            "mark": {"type": "text", **look, **mark},
            "encoding": {"x": pixels("x"), "y": pixels("y"), "text": {"field": "words", "type": "nominal"}},
        }
    ]


def coloured() -> Channels:
    """The colour of a mark's sort."""
    return _by_sort([look.colour for look in SORTS.values()])


def symbol(where: Channels, *, size: int = 80) -> Layer:
    """The mark itself: shape, fill and colour by its sort."""
    return {
        "transform": [{"filter": "isValid(datum.value)"}],
        "mark": {"type": "point", "size": size, "strokeWidth": 2, "opacity": 1},
        "encoding": {
            **where,
            "shape": _by_sort([look.shape for look in SORTS.values()]),
            "fill": _by_sort([look.colour if look.filled else PALETTE["ground"] for look in SORTS.values()]),
            "stroke": coloured(),
        },
    }


def arrows(where: Channels, along: str, ends: tuple[float, float]) -> list[Layer]:
    """A small arrow at the end of the axis where an interval runs on beyond it. ``along``: x or y."""
    turned = {"before": 270, "after": 90} if along == "x" else {"before": 180, "after": 0}
    return [
        {
            "transform": [{"filter": f"isValid(datum.{side})"}],
            "mark": {
                "type": "point",
                "shape": "triangle-up",
                "filled": True,
                "size": 50,
                "angle": angle,
                "opacity": 1,
            },
            "encoding": {**where, along: scaled(side, ends), "color": coloured()},
        }
        for side, angle in turned.items()
    ]


def _beyond(value: float | None, end: float, sign: int) -> float | None:
    """The axis's end where the value lies past it."""
    return end if value is not None and sign * (value - end) > 1e-9 else None


def values(
    marks: Sequence[Mark], ends: tuple[float, float], heights: Sequence[float] = ()
) -> list[dict[str, Any]]:
    """Marks as rows of data, in their order, within the ends of their axis.

    ``heights``: of each, in px, where marks stand in rows.
    """

    def held(mark: Mark, value: float | None) -> float | None:
        return None if mark.value is None or value is None else min(max(value, ends[0]), ends[1])

    return [
        {
            "label": mark.label,
            "at": mark.at,
            "y": heights[place] if heights else None,
            "value": held(mark, mark.value),
            "low": held(mark, mark.low),
            "high": held(mark, mark.high),
            "from": held(mark, mark.inner[0]) if mark.inner else None,
            "to": held(mark, mark.inner[1]) if mark.inner else None,
            "before": _beyond(mark.low, ends[0], -1),
            "after": _beyond(mark.high, ends[1], 1),
            "n": mark.n,
            "sort": mark.sort,
        }
        for place, mark in enumerate(marks)
    ]


def _by_sort(looks: list[str]) -> Channels:
    return {
        "field": "sort",
        "type": "nominal",
        "scale": {"domain": _NAMES, "range": looks},
        "legend": None,
    }

"""Figures with two axes: courses along a length or a round, and a scatter with names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from django.utils.translation import gettext as _

from studies.figures.panels import (
    GAP,
    LINE,
    NARROW,
    WIDE,
    Channels,
    Layer,
    Room,
    arrows,
    below,
    coloured,
    concat,
    depth_of,
    domain_of,
    framed,
    ruled,
    scaled,
    symbol,
    values,
    words,
)
from studies.figures.shapes import PALETTE, Axis, Mark, Panel, Spec
from studies.figures.writing import SMALL, width_of

LEFT = 32  # px for the numbers of the y axis
HEIGHT, TALL = 120, 260  # px of a course, of a scatter


class Along(NamedTuple):
    """What courses run along: its name, its ends, and (place, words) of what stands below the axis."""

    title: str
    ends: tuple[float, float]
    ticks: tuple[tuple[float, str], ...]


def courses(panels: Sequence[Panel], axis: Axis, narrow: bool, *, along: Along, columns: int = 3) -> Spec:
    """One course a panel: values with their intervals joined by a line, n below each value."""
    columns = 1 if narrow else min(columns, len(panels))
    whole = (NARROW if narrow else WIDE) - 16

    def plot_of(number: int) -> float:
        return float((whole - 18 * (number - 1)) // number - LEFT - 8)

    # Counts of neighbours must not run into one another.
    widest = max((width_of(_short(mark.n), SMALL) for panel in panels for mark in panel.marks), default=0.0)
    places = sorted({mark.at for panel in panels for mark in panel.marks})
    nearest = min((after - before for before, after in pairwise(places)), default=1.0)
    nearest /= along.ends[1] - along.ends[0]
    while columns > 1 and plot_of(columns) * nearest < widest + 1:
        columns = columns // 2 if columns % 2 == 0 else 1
    plot = plot_of(columns)
    return concat([_course(panel, axis, panels, along, plot) for panel in panels], columns, (18, 18))


def scatter(panels: Sequence[Panel], axis: Axis, narrow: bool, *, along: str) -> Spec:
    """Names beside points with their intervals. ``along``: what the x axis counts."""
    plot = float((NARROW if narrow else WIDE) - 16 - LEFT - 8)
    return concat([_scatter(panel, axis, panels, along, plot) for panel in panels], 1, (18, 18))


def _course(panel: Panel, common: Axis, panels: Sequence[Panel], along: Along, plot: float) -> Spec:
    axis, ends = panel.axis or common, domain_of(panel, common, panels)
    low, high = along.ends

    def across(place: float) -> float:
        return plot * (place - low) / (high - low)

    x, valid = scaled("at", along.ends), {"transform": [{"filter": "isValid(datum.value)"}]}
    quiet = {"color": PALETTE["ink-2"], "fontSize": SMALL, "align": "center"}
    counts = [(across(mark.at), HEIGHT + 2 * LINE, _short(mark.n)) for mark in panel.marks]
    lacking = any(mark.value is None for mark in panel.marks)
    title = _("%(name)s; no mark: not enough") % {"name": along.title} if lacking else along.title
    layers: list[Layer] = [
        *ruled(axis, ends, "y"),
        {
            **valid,
            "mark": {"type": "line", "strokeWidth": 1, "color": PALETTE["edge"]},
            "encoding": {"x": x, "y": scaled("value", ends)},
        },
        *_upright(x, ends),
        symbol({"x": x, "y": scaled("value", ends)}, size=60),
        *_beside(axis, ends, HEIGHT),
        *words([(across(place), HEIGHT + LINE, said) for place, said in along.ticks], **quiet),
        *words([(-8, HEIGHT + 2 * LINE, "n")] if counts else [], **{**quiet, "align": "right"}),
        *words(counts, **quiet),
        *words([(0, HEIGHT + 3 * LINE + 2, title)], color=PALETTE["ink-2"]),
    ]
    room = Room(left=LEFT, right=8, above=4, below=3 * LINE + 17)
    return framed(panel.title, (plot, HEIGHT), room, values(panel.marks, ends), layers)


def _scatter(panel: Panel, axis: Axis, panels: Sequence[Panel], along: str, plot: float) -> Spec:
    ends = domain_of(panel, axis, panels)
    shown = [mark for mark in panel.marks if mark.value is not None]
    places = [mark.at for mark in shown]
    aside = 0.08 * (max(places) - min(places)) or 1.0
    across = Axis(along, low=min(places) - aside, high=max(places) + aside)
    span = (min(places) - aside, max(places) + aside)
    x, size = scaled("at", span), (plot, float(TALL))
    room = Room(left=LEFT, right=8, above=22)
    room = room._replace(below=depth_of(across, LEFT + plot))
    layers: list[Layer] = [
        *ruled(axis, ends, "y"),
        *_upright(x, ends),
        symbol({"x": x, "y": scaled("value", ends)}),
        *_beside(axis, ends, TALL),
        *words([(-LEFT, -12, axis.title)], color=PALETTE["ink-2"]),
        *below(across, span, size, LEFT, LEFT + plot),
        *_apart(shown, span, ends, size),
    ]
    return framed(panel.title, size, room, values(shown, ends), layers)


def _upright(x: Channels, ends: tuple[float, float]) -> list[Layer]:
    """Intervals of marks along the y axis."""
    return [
        {
            "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"x": x, "y": scaled("low", ends), "y2": {"field": "high"}, "color": coloured()},
        },
        *arrows({"x": x}, "y", ends),
    ]


def _beside(axis: Axis, ends: tuple[float, float], height: float) -> list[Layer]:
    """Numbers of the y axis."""
    low, high = ends
    return words(
        [(-6, height * (high - at) / (high - low), axis.tick(at)) for at in axis.marked(ends)],
        align="right",
        fontSize=SMALL,
        color=PALETTE["ink-2"],
    )


def _apart(
    marks: Sequence[Mark], span: tuple[float, float], ends: tuple[float, float], size: tuple[float, float]
) -> list[Layer]:
    """Names beside their points, to the left at the right edge, moved down where two would meet."""
    width, height = size
    taken: list[tuple[float, float, float]] = []
    sides: dict[str, list[tuple[float, float, str]]] = {"left": [], "right": []}
    for mark in sorted(marks, key=lambda one: -(one.value or 0.0)):
        x = width * (mark.at - span[0]) / (span[1] - span[0])
        y = height * (ends[1] - (mark.value or 0.0)) / (ends[1] - ends[0])
        wide = width_of(mark.label)
        turned = x + GAP + wide > width
        start = x - GAP - wide if turned else x + GAP
        while any(
            abs(y - other) < LINE and start < end and begin < start + wide for begin, end, other in taken
        ):
            y += 2
        taken.append((start, start + wide, y))
        sides["right" if turned else "left"].append((x - GAP if turned else x + GAP, y, mark.label))
    return [*words(sides["left"]), *words(sides["right"], align="right")]


def _short(n: int | None) -> str:
    """A count of at most four signs: bins are narrow. The table has all of it."""
    if n is None:
        return ""
    return str(n) if n < 1000 else f"{n / 1000:.1f}k" if n < 9950 else f"{n / 1000:.0f}k"

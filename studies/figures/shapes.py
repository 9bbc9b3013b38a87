"""What figures are made of: marks on panels along an axis; sorts of marks with shape, fill and colour."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Spec = dict[str, Any]

#: Colours of files, and the token of the page that takes the place of each. Every value stands for one token.
PALETTE = {
    "ground": "#ffffff",
    "ink": "#1c222c",
    "ink-2": "#505561",
    "line": "#dfdbd4",
    "edge": "#81807c",
    "sunk": "#f2efea",
    "human": "#c07520",
    "machine": "#2e69b2",
    "warning": "#7f4188",
    "accent": "#1f4739",
}

Sort = Literal["human", "human_open", "machine", "machine_open", "all", "all_open", "warning"]


class Look(NamedTuple):
    """How a sort looks. In grey print the shape tells people from machines, the fill a part from a whole."""

    shape: str
    colour: str
    filled: bool


SORTS: dict[Sort, Look] = {
    "human": Look("circle", PALETTE["human"], True),
    "human_open": Look("circle", PALETTE["human"], False),
    "machine": Look("square", PALETTE["machine"], True),
    "machine_open": Look("square", PALETTE["machine"], False),
    "all": Look("diamond", PALETTE["ink"], True),
    "all_open": Look("diamond", PALETTE["ink"], False),
    "warning": Look("triangle-up", PALETTE["warning"], True),
}


def numeral(value: float, decimals: int) -> str:
    """A figure for people. Lengths, levels and rates in Hz are no shares: one decimal from 10 on, none from
    1000 on, since more would feign what nobody measured."""
    most = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else decimals
    return f"{value:.{min(most, decimals)}f}"


@dataclass(frozen=True)
class Mark:
    """One value with its interval. Without a value nothing is drawn, and ``note`` says why.

    ``at``: place along a course or on a scatter's x axis. ``inner``: a narrower interval, drawn thicker.
    ``group``: which of the marks that share a row it is. ``parts``: shares of a distribution.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    sort: Sort = "all"
    note: str = ""
    at: float = 0.0
    inner: tuple[float, float] | None = None
    group: str = ""
    parts: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The row, and which of its marks."""
        return f"{self.label}, {self.group}" if self.group else self.label


@dataclass(frozen=True)
class Axis:
    """The axis of values. ``low`` and ``high`` hold: an interval that runs beyond ends in an arrow there.

    ``line`` is dashed across, ``band`` shaded; no ``ticks``: about five. ``within``: where the ends
    may lie for the sake of an interval, lest a wild one presses all others together.
    """

    title: str
    low: float | None = None
    high: float | None = None
    line: float | None = None
    band: tuple[float, float] | None = None
    ticks: tuple[float, ...] | None = None
    decimals: int = 3
    within: tuple[float, float] = (-math.inf, math.inf)

    def over(self, marks: Iterable[Mark]) -> tuple[float, float]:
        """The ends: as given, else far enough for every interval, the line and the band."""
        known = [mark for mark in marks if mark.value is not None]
        values = [
            min(max(value, self.within[0]), self.within[1])
            for mark in known
            for value in (mark.low, mark.high, *(mark.inner or ()))
            if value is not None
        ]
        values += [mark.value for mark in known if mark.value is not None]
        values += [value for value in (self.line, *(self.band or ())) if value is not None]
        low, high = min(values, default=0.0), max(values, default=1.0)
        room = 0.04 * (high - low) or max(abs(low), 1.0) * 0.1
        return (
            low - room if self.low is None else self.low,
            high + room if self.high is None else self.high,
        )

    def words(self, value: float) -> str:
        return numeral(value, self.decimals)

    def marked(self, ends: tuple[float, float]) -> list[float]:
        """Where numbers stand: the given ticks, else round ones, about five."""
        low, high = ends
        if self.ticks is not None:
            return [tick for tick in self.ticks if low <= tick <= high]
        rough = (high - low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * part for part in (1, 2, 5, 10) if power * part >= rough * 0.999)
        first = math.ceil(low / step - 1e-9)
        return [step * place for place in range(first, math.floor(high / step + 1e-9) + 1)]

    def tick(self, value: float) -> str:
        return f"{round(value, 10) + 0.0:g}"


SHARE_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def share_axis(title: object, line: float | None = 0.5) -> Axis:
    """0 to 1 in quarters, with the line at .5."""
    return Axis(str(title), low=0.0, high=1.0, line=line, ticks=SHARE_TICKS)


@dataclass(frozen=True)
class Panel:
    """Marks under one heading. ``axis``: its own in place of the figure's."""

    title: str
    marks: tuple[Mark, ...]
    axis: Axis | None = None

    @property
    def values(self) -> int:
        """How many marks have one."""
        return sum(mark.value is not None for mark in self.marks)


@dataclass(frozen=True)
class Figure:
    """A figure of a report. ``table``: key of the table it shows. ``alt``: what it shows, in words.

    ``spec``: a Vega-Lite specification with the title and what it rests on. ``narrow``: the same for a phone.
    """

    key: str
    table: str
    title: str
    alt: str
    spec: Spec
    narrow: Spec


def drawn(panels: Sequence[Panel], fewest: int = 1) -> list[Panel]:
    """Panels that have at least so many values; the others are left to the table."""
    return [panel for panel in panels if panel.values >= fewest]

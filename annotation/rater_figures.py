"""Figures of every rater of a study from its rows: gold, hidden repeats, straight-lining, speed, drift, halo.

Pure over arrays once the rows are read. Nothing here knows the truth about a dialogue: a rater is compared
with known scores, with themselves and with the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from turingsite.stats import (
    Correlation,
    Estimate,
    Halo,
    Retest,
    StraightLining,
    drift,
    halo,
    mean_absolute_difference,
    retest,
    right_side_share,
    spearman,
    straight_lining,
)

Floats = NDArray[np.float64]
#: In an array of answers: no evidence, as its key.
NONE = 0.0


class Item(NamedTuple):
    """A finished dialogue of one rater. ``analysed``: its scores count, so others are compared with them."""

    pk: int
    rater: int
    dialogue: int
    layer: str
    purpose: str
    repeat: int
    analysed: bool
    seconds: float
    length: float | None
    batch: int
    at: Any


class Speed(NamedTuple):
    """Medians over ``n`` dialogues, in seconds: active time, and what of it is beyond the sound's length."""

    n: int
    seconds: float | None
    beyond: float | None


class Gold(NamedTuple):
    """Against known scores: mean |difference| where both have evidence, clear scores on the right side."""

    items: int
    difference: Estimate
    clear: Estimate


class Others(NamedTuple):
    """Against the mean of the other raters of the same dialogues: mean |difference|, rank correlation."""

    difference: Estimate
    correlation: Correlation


class LeftOut(NamedTuple):
    """Dialogues left out as known or failing, of all ``met``, those of calibration with them."""

    n: int = 0
    met: int = 0


@dataclass(frozen=True)
class Figures:
    """One rater. ``drift``: steps of the scale per dialogue, over the order of work; ``halo`` on demand."""

    dialogues: int
    straight: StraightLining
    speed: Speed
    gold: Gold
    repeats: int
    retest: Retest
    others: Others
    drift: Estimate
    halo: Halo | None
    left: LeftOut = field(default_factory=LeftOut)


@dataclass(frozen=True)
class Sheet:
    """All finished items of a study with their answers: items × dimensions, 0 no evidence, NaN unanswered.

    ``references``: known scores by dialogue, NaN where the reference heard no evidence or says nothing.
    ``left``: what each rater left out.
    """

    items: tuple[Item, ...]
    answers: Floats
    references: Mapping[int, Floats]
    left: Mapping[int, LeftOut] = field(default_factory=dict)

    @property
    def scores(self) -> Floats:
        """As scored: NaN where there is no evidence."""
        return np.where(self.answers == NONE, np.nan, self.answers)

    def of(self, rater: int, purposes: Iterable[str]) -> list[int]:
        """Places of a rater's items of these purposes, in the order of work."""
        wanted = set(purposes)
        return [at for at, one in enumerate(self.items) if one.rater == rater and one.purpose in wanted]


def others_of(sheet: Sheet) -> Floats:
    """For each item the mean of the *other* raters of its dialogue and layer; NaN where there is none.

    Others are those whose scores of it count; known-score items count as well, for several people get them.
    """
    scores = sheet.scores
    units: dict[tuple[int, str], int] = {}
    unit = np.array(
        [units.setdefault((one.dialogue, one.layer), len(units)) for one in sheet.items], dtype=int
    )
    counts_in = np.array([one.analysed and one.repeat == 0 for one in sheet.items], dtype=bool)
    known = ~np.isnan(scores) & counts_in[:, None]
    total = np.zeros((len(units), scores.shape[1]))
    count = np.zeros_like(total)
    np.add.at(total, unit, np.where(known, scores, 0.0))
    np.add.at(count, unit, known)
    total, count = total[unit], count[unit]
    # A hidden repeat is compared with others, not with the same rater's first scores.
    first = {(one.rater, one.dialogue, one.layer): at for at, one in enumerate(sheet.items) if counts_in[at]}
    own = np.array([first.get((one.rater, one.dialogue, one.layer), -1) for one in sheet.items], dtype=int)
    mine = (own >= 0)[:, None] & known[own]
    total, count = total - np.where(mine, scores[own], 0.0), count - mine
    mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def figures_of(
    sheet: Sheet, rater: int, others: Floats, order: Sequence[int], *, deep: bool = False
) -> Figures:
    """``others`` from :func:`others_of`. ``order``: columns as the rater saw them. ``deep``: with halo."""
    scores = sheet.scores
    work = sheet.of(rater, ("work",))
    done = sheet.of(rater, ("work", "gold", "repeat"))
    own, theirs = scores[work], others[work]
    first = {sheet.items[at].dialogue: at for at in sheet.of(rater, ("work", "gold"))}
    again = [at for at in sheet.of(rater, ("repeat",)) if sheet.items[at].dialogue in first]
    before = [first[sheet.items[at].dialogue] for at in again]
    gaps = np.abs(own - theirs)
    known = ~np.isnan(gaps)
    return Figures(
        dialogues=len(work),
        straight=straight_lining(sheet.answers[np.ix_(done, list(order))]),
        speed=_speed([sheet.items[at] for at in done]),
        gold=_gold(sheet, sheet.of(rater, ("gold",))),
        repeats=len(again),
        retest=retest(scores[before].ravel(), scores[again].ravel()),
        others=Others(
            Estimate(float(gaps[known].mean()), int(known.sum()))
            if known.any()
            else Estimate(None, 0, lack="no_data"),
            spearman(own[known], theirs[known]),
        ),
        drift=drift(own, theirs, np.arange(len(work), dtype=float)),
        halo=halo(own) if deep else None,
        left=sheet.left.get(rater, LeftOut()),
    )


def _speed(items: Sequence[Item]) -> Speed:
    timed = [one for one in items if one.seconds > 0]
    beyond = [one.seconds - one.length for one in timed if one.length is not None]
    return Speed(
        len(timed),
        float(np.median([one.seconds for one in timed])) if timed else None,
        float(np.median(beyond)) if beyond else None,
    )


def _gold(sheet: Sheet, places: Sequence[int]) -> Gold:
    known = [at for at in places if sheet.items[at].dialogue in sheet.references]
    given = sheet.scores[known]
    wanted = np.array([sheet.references[sheet.items[at].dialogue] for at in known]).reshape(given.shape)
    return Gold(len(known), mean_absolute_difference(given, wanted), right_side_share(given, wanted))

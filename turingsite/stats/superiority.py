"""Are one group's scores higher than another's, scale steps aside: probability of superiority."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .arrays import floats
from .clustering import from_influence
from .correlation import midranks
from .intervals import Estimate


def superiority(
    x: ArrayLike, first: ArrayLike, participant: ArrayLike, item: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """P(X > Y) + ½ P(X = Y), X a score where ``first`` holds, Y one where it does not; two-way interval.

    .5: neither is higher; machine as ``first`` against humans, below .5: the machine sounds less human. Only
    the order of scores counts. Placements: V₁ of a first score = share of the others below it, ties ½; V₀ of
    another = share of the first above it, ties ½; both have mean θ. Influence values (V₁ − θ)/n₁ and
    (V₀ − θ)/n₀; with every score its own person and item V is DeLong's up to factors n/(n − 1). θ ± t√V,
    clipped to 0–1; df from the smaller number of clusters in either group. ``participant``: raters, ``item``:
    dialogues, one score of each pair of them (average a rater's dimensions of a dialogue first).

    A group without scores: no value, n counts what there is. One cluster in a group (``one_cluster``), or
    groups that do not overlap or are constant (``no_spread``): a value without interval.
    Source: Vargha & Delaney 2000, J. Educational and Behavioral Statistics 25:101; placements: DeLong,
    DeLong, Clarke-Pearson 1988; variance as in ``clustering.twoway``.
    """
    values, inside = floats(x), np.asarray(first, dtype=bool).ravel()
    if inside.size != values.size:
        raise ValueError("x and first have one entry per score")
    highs, lows = values[inside], values[~inside]
    if not highs.size or not lows.size:
        return Estimate(None, values.size, level=level, lack="no_data")
    ranks = midranks(values)
    above = (ranks[inside] - midranks(highs)) / lows.size
    below = 1 - (ranks[~inside] - midranks(lows)) / highs.size
    theta = float(above.mean())
    u = np.empty(values.size)
    u[inside] = (above - theta) / highs.size
    u[~inside] = (below - theta) / lows.size
    raw = from_influence(theta, u, participant, item, arm=inside, level=level)
    if raw.low is None or raw.high is None:
        return raw
    return replace(raw, low=max(0.0, raw.low), high=min(1.0, raw.high))

"""Agreement of any number of raters: Krippendorff's alpha, percent agreement, reliability of several raters.

Two raters at a time are in ``kappa``, alpha's interval is in ``bootstrap``.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Floats
from .intervals import Estimate
from .ratings import ratings

#: How far apart two values are: any two alike, by the ranks between them, by their difference.
Metric = Literal["nominal", "ordinal", "interval"]


class Pairables(NamedTuple):
    """Scores of units with two or more: how often each value was given (units × values), and the values."""

    counts: NDArray[np.int64]
    values: Floats


def krippendorff_alpha(scores: ArrayLike, metric: Metric = "ordinal") -> Estimate:
    """α = 1 − D_o/D_e over units × raters, NaN where a rater gave none.

    A unit with m ≥ 2 scores adds to the coincidences o_ck each of its ordered pairs of scores, weighing
    1/(m − 1); n_c = Σ_k o_ck, n = Σ n_c = number of pairable values. D_o = Σ o_ck δ²_ck / n,
    D_e = Σ n_c n_k δ²_ck / (n(n − 1)). δ²: nominal 1 for c ≠ k; interval (c − k)²; ordinal
    (Σ_{g=c…k} n_g − (n_c + n_k)/2)², with the n_g of these very data. Columns need not be the same rater all
    the way down. Alpha is the reliability of a *single* rater's scores; of the mean of k raters:
    :func:`spearman_brown`.

    ``n`` is the number of pairable values, ``items`` of units they are in. Fewer than two such units: no
    value (``no_data``; one alone gives 0 whatever is in it). All pairable values equal: no value
    (``no_spread``), since none of what could have differed was seen; percent agreement is 1 then.
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability; 2019, Content Analysis, ch. 12.
    """
    if metric not in get_args(Metric):
        raise ValueError("metric is nominal, ordinal or interval")
    found = pairables(scores)
    units, n = found.counts.shape[0], int(found.counts.sum())
    if units < 2:
        return Estimate(None, n, items=units, lack="no_data")
    weights = 1 / (found.counts.sum(axis=1, keepdims=True) - 1)
    coincidences = (found.counts * weights).T @ found.counts
    np.fill_diagonal(coincidences, (found.counts * (found.counts - 1) * weights).sum(axis=0))
    upper = np.triu_indices(found.values.size)
    value = float(alphas(coincidences[upper], found.values, metric))
    if np.isnan(value):
        return Estimate(None, n, items=units, lack="no_spread")
    return Estimate(value, n, items=units)


def percent_agreement(scores: ArrayLike) -> Estimate:
    """Share of pairs of scores of the same unit that are equal: Σ o_cc / n, the observed agreement of nominal
    alpha, 0–1. Each pairable value counts once, so units with more scores do not count more than those.

    With as many scores everywhere it is the plain share of equal pairs. ``n``, ``items`` as for alpha. No
    unit with two scores: no value.
    """
    found = pairables(scores)
    units, n = found.counts.shape[0], int(found.counts.sum())
    if n == 0:
        return Estimate(None, 0, items=0, lack="no_data")
    equal = (found.counts * (found.counts - 1)).sum(axis=1) / (found.counts.sum(axis=1) - 1)
    return Estimate(float(equal.sum()) / n, n, items=units)


def spearman_brown(reliability: float | None, raters: float) -> float | None:
    """Reliability of the mean of k raters' scores from that of one: kρ/(1 + (k − 1)ρ).

    ρ is single-rater reliability, which is what alpha (interval and ordinal) estimates, however many raters
    scored a unit: put alpha in, and its interval's bounds one by one (it rises with ρ). No reliability, or
    ρ ≤ −1/(k − 1), where the formula has no meaning: ``None``. Source: Spearman 1910; Brown 1910.
    """
    if raters <= 0:
        raise ValueError("raters is above 0")
    if reliability is None:
        return None
    below = 1 + (raters - 1) * reliability
    return raters * reliability / below if below > 0 else None


def pairables(scores: ArrayLike) -> Pairables:
    """Values of the units that have two or more; ``scores`` is units × raters."""
    array = ratings(scores)
    if array.ndim != 2:
        raise ValueError("scores are units × raters")
    kept = array[(~np.isnan(array)).sum(axis=1) >= 2]
    values = np.unique(kept[~np.isnan(kept)])
    counts = (kept[:, :, None] == values).sum(axis=1)
    return Pairables(counts, values)


def alphas(coincidences: Floats, values: Floats, metric: Metric, scale: float = 1.0) -> Floats:
    """Alpha of coincidences given as (upper triangle with diagonal × …); NaN where values do not vary.

    ``scale``: the coincidences are so many times what they should be (to keep them whole numbers).
    """
    pairs = list(zip(*np.triu_indices(values.size), strict=True))
    marginals = np.zeros((values.size, *coincidences.shape[1:]))
    for (first, second), count in zip(pairs, coincidences, strict=True):
        marginals[first] += count
        if first != second:
            # A pair off the diagonal stands for its mirror image too.
            marginals[second] += count
    # Differences of places: for ordinal these are mid-ranks, the ranks between two values their difference.
    places = np.cumsum(marginals, axis=0) - marginals / 2 if metric == "ordinal" else values
    observed, expected = np.zeros(coincidences.shape[1:]), np.zeros(coincidences.shape[1:])
    for (first, second), count in zip(pairs, coincidences, strict=True):
        if first == second:
            continue
        distance = 1.0 if metric == "nominal" else (places[second] - places[first]) ** 2
        observed += count * distance
        expected += marginals[first] * marginals[second] * distance
    varies = expected > 0
    ratio: Floats = np.divide(observed, expected, out=np.full(observed.shape, np.nan), where=varies)
    alpha: Floats = 1 - (marginals.sum(axis=0) - scale) * ratio
    return alpha

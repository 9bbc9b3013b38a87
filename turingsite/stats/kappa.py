"""Agreement of two raters: Cohen's kappa, plain and weighted, Gwet's AC1; and kappa over all pairs of raters.

Scikit-learn has the first, at the price of seconds to load; it weighs by the position of values seen, here
weights go by the values themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from .arrays import Floats
from .intervals import Estimate
from .ratings import paired, ratings

#: Weights of disagreements; ``None``: all weigh the same.
Weights = Literal["linear", "quadratic"]


class Confusion(NamedTuple):
    """How often the first rater said the row's value and the second the column's."""

    counts: NDArray[np.int64]
    values: Floats


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Kappa of two raters (columns) over the ``kappa.n`` units both scored."""

    first: int
    second: int
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class PairwiseKappa:
    """Mean kappa over the pairs that have one, weighed by shared units; ``mean.n`` counts those units."""

    mean: Estimate
    pairs: tuple[RaterPair, ...]


def confusion(first: ArrayLike, second: ArrayLike, *, values: ArrayLike | None = None) -> Confusion:
    """Table of two raters' scores; a unit that either lacks (NaN) is left out.

    ``values``: the scale, in rising order (a score outside it is refused); without, the values seen.
    """
    one, other = paired(first, second)
    scale = np.unique(np.concatenate([one, other])) if values is None else _scale(values)
    rows, columns = _places(one, scale), _places(other, scale)
    size = scale.size
    counts = np.bincount(rows * size + columns, minlength=size * size).reshape(size, size)
    return Confusion(counts, scale)


def cohen_kappa(
    first: ArrayLike, second: ArrayLike, *, weights: Weights | None = None, values: ArrayLike | None = None
) -> Estimate:
    """Cohen's kappa of two lists of scores, NaN where a rater gave none. See :func:`kappa_from_table`."""
    table = confusion(first, second, values=values)
    return kappa_from_table(table.counts, weights=weights, values=table.values)


def kappa_from_table(
    table: ArrayLike, *, weights: Weights | None = None, values: ArrayLike | None = None
) -> Estimate:
    """κ = 1 − Σ w_ij p_ij / Σ w_ij p_i. p_.j with disagreement weights w: 1 off the diagonal; linear
    |v_i − v_j|; quadratic (v_i − v_j)².

    ``values`` of rows and columns are 0, 1, 2 … unless given; a value nobody used changes nothing. ``n``:
    units. No units: no value (``no_data``). Both raters always said the same one thing: no value
    (``no_spread``). Source: Cohen 1960, Educational and Psychological Measurement 20:37; 1968,
    Psychological Bulletin 70:213.
    """
    counts = _table(table)
    scale = np.arange(counts.shape[0], dtype=np.float64) if values is None else _scale(values)
    if scale.size != counts.shape[0]:
        raise ValueError("one value per row of the table")
    n = float(counts.sum())
    if n == 0:
        return Estimate(None, 0, lack="no_data")
    distance = _distance(scale, weights)
    expected = float((distance * np.outer(counts.sum(axis=1), counts.sum(axis=0))).sum()) / n
    if expected == 0:
        return Estimate(None, round(n), lack="no_spread")
    return Estimate(1 - float((distance * counts).sum()) / expected, round(n))


def gwet_ac1(first: ArrayLike, second: ArrayLike, *, values: ArrayLike | None = None) -> Estimate:
    """Gwet's AC1 of two lists of scores. ``values``: the whole scale, since AC1 depends on how many values
    could have been said; without, those seen. See :func:`ac1_from_table`."""
    return ac1_from_table(confusion(first, second, values=values).counts)


def ac1_from_table(table: ArrayLike) -> Estimate:
    """AC1 = (p_o − p_e)/(1 − p_e), p_e = Σ π_c(1 − π_c)/(q − 1), π_c the mean of both raters' shares of c.

    q: rows of the table. Where nearly all is one value AC1 stays near p_o, where kappa falls to 0. No units:
    no value (``no_data``); a table of one value: no value (``no_spread``).
    Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29.
    """
    counts = _table(table)
    n = float(counts.sum())
    if n == 0:
        return Estimate(None, 0, lack="no_data")
    if counts.shape[0] < 2:
        return Estimate(None, round(n), lack="no_spread")
    shares = (counts.sum(axis=1) + counts.sum(axis=0)) / (2 * n)
    by_chance = float((shares * (1 - shares)).sum()) / (counts.shape[0] - 1)
    return Estimate((float(np.trace(counts)) / n - by_chance) / (1 - by_chance), round(n))


def pairwise_kappa(
    scores: ArrayLike, *, weights: Weights | None = "quadratic", fewest: int = 2
) -> PairwiseKappa:
    """Weighted kappa of every two raters (columns of units × raters) that share a unit, and their mean.

    Pairs with fewer than ``fewest`` shared units have no value (``no_data``). The mean weighs a pair by its
    shared units, so with all raters on all units it is Light's kappa; ``n`` counts the shared units of pairs
    that have a value, ``participants`` the raters in them. No such pair: no value.
    Source: Light 1971, Psychological Bulletin 76:365; Conger 1980, Psychological Bulletin 88:322.
    """
    array = ratings(scores)
    if array.ndim != 2:
        raise ValueError("scores are units × raters")
    raters = array.shape[1]
    scale = np.unique(array[~np.isnan(array)])
    if scale.size == 0:
        return PairwiseKappa(Estimate(None, 0, participants=0, lack="no_data"), ())
    said = np.stack([array == value for value in scale], axis=-1)
    flat = said.reshape(said.shape[0], -1).astype(np.float64)
    # On one thread: where the machine is busy those of a product wait for each other, six times as long.
    with ThreadpoolController().limit(limits=1):
        product = flat.T @ flat
    tables = product.reshape(raters, scale.size, raters, scale.size).transpose(0, 2, 1, 3)
    rows, columns = tables.sum(axis=3), tables.sum(axis=2)
    shared = rows.sum(axis=2)
    distance = _distance(scale, weights)
    observed = (tables * distance).sum(axis=(2, 3))
    expected = np.einsum("abi,ij,abj->ab", rows, distance, columns)
    pairs = []
    for first, second in zip(*np.nonzero(np.triu(shared, 1)), strict=True):
        n, chance = int(shared[first, second]), float(expected[first, second])
        if n < fewest or chance == 0:
            kappa = Estimate(None, n, lack="no_data" if n < fewest else "no_spread")
        else:
            kappa = Estimate(1 - n * float(observed[first, second]) / chance, n)
        pairs.append(RaterPair(int(first), int(second), kappa))
    return PairwiseKappa(_mean(pairs), tuple(pairs))


def _mean(pairs: list[RaterPair]) -> Estimate:
    known = [(pair.kappa.value, pair.kappa.n) for pair in pairs if pair.kappa.value is not None]
    n = sum(shared for _value, shared in known)
    if n == 0:
        constant = any(pair.kappa.lack == "no_spread" for pair in pairs)
        return Estimate(None, 0, participants=0, lack="no_spread" if constant else "no_data")
    raters = {rater for pair in pairs if pair.kappa.value is not None for rater in (pair.first, pair.second)}
    return Estimate(sum(value * shared for value, shared in known) / n, n, participants=len(raters))


def _table(table: ArrayLike) -> Floats:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not (counts >= 0).all():
        raise ValueError("a table is square and counts are 0 or more")
    return counts


def _scale(values: ArrayLike) -> Floats:
    scale = np.asarray(values, dtype=np.float64).ravel()
    if not (np.diff(scale) > 0).all():
        raise ValueError("values of a scale rise")
    return scale


def _places(scores: Floats, scale: Floats) -> NDArray[np.intp]:
    places = np.searchsorted(scale, scores)
    if (places == scale.size).any() or (scale[places] != scores).any():
        raise ValueError("a score is not on the scale")
    return places


def _distance(scale: Floats, weights: Weights | None) -> Floats:
    apart = np.abs(scale[:, None] - scale[None, :])
    if weights is None:
        return (apart > 0).astype(np.float64)
    if weights == "linear":
        return apart
    if weights == "quadratic":
        return apart**2
    raise ValueError("weights are linear, quadratic or None")

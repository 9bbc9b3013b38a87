"""Do two scores of the same few things go together: Pearson's r, Spearman's ρ, Kendall's τ-b, with p.

The same values as SciPy's, whose module would cost every process two seconds to load.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from .arrays import Floats, floats, square_sum
from .intervals import Lack, two_sided

#: Up to so many pairs without ties Kendall's p is exact, as in SciPy.
_EXACT = 33


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient with its two-sided p, on ``n`` pairs."""

    value: float | None
    p: float | None
    n: int
    lack: Lack = ""


def pearson(x: ArrayLike, y: ArrayLike) -> Correlation:
    """r = Σ(x − x̄)(y − ȳ)/√(Σ(x − x̄)² Σ(y − ȳ)²); p by t = r√((n − 2)/(1 − r²)) with n − 2 df.

    Fewer than three pairs: no value (``no_data``). x or y constant: no value (``no_spread``).
    """
    first, second = _pairs(x, y)
    if first.size < 3:
        return Correlation(None, None, first.size, "no_data")
    a, b = first - first.mean(), second - second.mean()
    scale = math.sqrt(square_sum(a)) * math.sqrt(square_sum(b))
    largest = float(np.abs(first).max()) * float(np.abs(second).max()) * first.size
    if scale <= 1e-13 * largest or scale == 0:
        return Correlation(None, None, first.size, "no_spread")
    r = min(1.0, max(-1.0, float((a * b).sum()) / scale))
    df = first.size - 2
    p = 0.0 if abs(r) == 1 else two_sided(r * math.sqrt(df / ((1 - r) * (1 + r))), df)
    return Correlation(r, p, first.size)


def spearman(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Pearson's r of the ranks, equal values sharing the mean of theirs; the rest likewise."""
    first, second = _pairs(x, y)
    return pearson(midranks(first), midranks(second))


def kendall(x: ArrayLike, y: ArrayLike) -> Correlation:
    """τ-b = (concordant − discordant)/√((pairs − ties in x)(pairs − ties in y)).

    p: without ties up to 33 pairs exact, from the number of orders with so many discordant pairs; otherwise
    by the normal, with the variance under ties. Fewer than three pairs: no value; x or y constant: no value.
    Source: Kendall 1970, Rank Correlation Methods, 4th edition.
    """
    first, second = _pairs(x, y)
    n = first.size
    if n < 3:
        return Correlation(None, None, n, "no_data")
    above = np.triu_indices(n, 1)
    signs = np.sign(first[above[0]] - first[above[1]]) * np.sign(second[above[0]] - second[above[1]])
    difference = int(signs.sum())
    pairs = n * (n - 1) // 2
    ties_x, ties_y = _Ties.of(first), _Ties.of(second)
    if pairs in (ties_x.pairs, ties_y.pairs):
        return Correlation(None, None, n, "no_spread")
    value = difference / math.sqrt(pairs - ties_x.pairs) / math.sqrt(pairs - ties_y.pairs)
    if not ties_x.pairs and not ties_y.pairs:
        discordant = (pairs - difference) // 2
        if n <= _EXACT or min(discordant, pairs - discordant) <= 1:
            return Correlation(value, _exact_p(n, min(discordant, pairs - discordant)), n)
    m = n * (n - 1.0)
    variance = (
        (m * (2 * n + 5) - ties_x.by_variance - ties_y.by_variance) / 18
        + 2.0 * ties_x.pairs * ties_y.pairs / m
        + ties_x.triples * ties_y.triples / (9 * m * (n - 2))
    )
    return Correlation(value, float(2 * special.ndtr(-abs(difference) / math.sqrt(variance))), n)


def midranks(values: Floats) -> NDArray[np.float64]:
    """Ranks from 1, equal values sharing the mean of theirs."""
    _different, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: NDArray[np.float64] = (last - (count - 1) / 2)[place]
    return ranks


@dataclass(frozen=True)
class _Ties:
    pairs: int
    triples: float
    by_variance: float

    @classmethod
    def of(cls, values: Floats) -> _Ties:
        counts = [count for count in Counter(values.tolist()).values() if count > 1]
        return cls(
            sum(t * (t - 1) // 2 for t in counts),
            float(sum(t * (t - 1) * (t - 2) for t in counts)),
            float(sum(t * (t - 1) * (2 * t + 5) for t in counts)),
        )


def _exact_p(n: int, discordant: int) -> float:
    """Two-sided: twice the share of the n! orders with at most ``discordant`` discordant pairs, 1 at most."""
    if n * (n - 1) // 2 == 2 * discordant:
        return 1.0
    # orders[d]: orders of the first so many things with d discordant pairs.
    orders = [1] + [0] * discordant
    for size in range(2, n + 1):
        orders = [sum(orders[max(0, d - size + 1) : d + 1]) for d in range(discordant + 1)]
    return min(1.0, 2 * sum(orders) / math.factorial(n))


def _pairs(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    first, second = floats(x), floats(y)
    if first.size != second.size:
        raise ValueError("x and y have one entry per pair")
    return first, second

"""Variance when observations share a person or a dialogue: two-way (both at once) and one-way.

The influence value u_i of an observation is what it adds to an estimate's deviation from the truth; once an
estimate is written that way, :func:`twoway` gives its variance. Proportion, mean and difference are here,
d′ is in ``detection``, the slope in ``trends``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Codes, Floats, clusters, codes, floats, square_sum, zeros_and_ones
from .intervals import Estimate, Lack, critical, wilson_bounds

#: A variance this small beside the plain one is rounding: the clusters' sums cancel exactly.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class TwoWay:
    """Variance of Σu with its parts; parts of a grouping with fewer than two clusters are ``None``."""

    n: int
    participants: int
    items: int
    df: int | None
    variance: float | None
    variance_participants: float | None
    variance_items: float | None
    variance_plain: float | None
    lack: Lack = ""

    @property
    def se(self) -> float | None:
        return None if self.variance is None else math.sqrt(self.variance)


@dataclass(frozen=True, slots=True)
class OneWay:
    """A proportion or mean over clusters of one kind."""

    value: float | None
    n: int
    clusters: int
    se_plain: float | None
    se: float | None
    icc: float | None
    design_effect: float | None
    lack: Lack = ""


def twoway(u: ArrayLike, participant: ArrayLike, item: ArrayLike, arm: ArrayLike | None = None) -> TwoWay:
    """Variance of an estimate when participants *and* items are samples.

    With influence values u_i, one per verdict: V_g = k/(k−1) Σ_clusters (Σu)² for g = participants (V_p) and
    items (V_d); V_i = N/(N−1) Σu²; V = max(V_p + V_d − V_i, V_p, V_d). Degrees of freedom for t: the smaller
    number of clusters − 1; where an estimate compares groups, ``arm`` (group of each verdict) makes that the
    smallest number in any arm, since a comparison is no firmer than its weaker side.

    ``participant`` and ``item`` are labels of any hashable kind; whole numbers from 0 are fastest. Assumes
    one verdict per participant and item (what the database enforces for people).

    No variance: fewer than two participants or items, in all or in an arm (``one_cluster``);
    u not all zero while V vanishes, since the clusters cancel exactly (``no_spread``). All u zero: V = 0.

    Source: Cameron, Gelbach, Miller 2011, J. Business & Economic Statistics 29:238; the lower bound keeps V
    from falling under either one-way variance.
    """
    values = floats(u)
    persons, dialogues = codes(participant), codes(item)
    n = values.size
    if persons.size != n or dialogues.size != n:
        raise ValueError("u, participant and item have one entry per verdict")
    k_persons, k_dialogues = clusters(persons), clusters(dialogues)
    fewest = min(k_persons, k_dialogues)
    if arm is not None:
        arms = codes(arm)
        if arms.size != n:
            raise ValueError("arm has one entry per verdict")
        for one in np.flatnonzero(np.bincount(arms)):
            inside = np.flatnonzero(arms == one)
            fewest = min(fewest, clusters(persons[inside]), clusters(dialogues[inside]))
    squares = square_sum(values)
    v_persons = _cluster_variance(values, persons, k_persons)
    v_dialogues = _cluster_variance(values, dialogues, k_dialogues)
    v_plain = n / (n - 1) * squares if n > 1 else None
    parts = (v_persons, v_dialogues, v_plain)
    if n == 0:
        return TwoWay(0, 0, 0, None, None, *parts, lack="no_data")
    if fewest < 2 or v_persons is None or v_dialogues is None or v_plain is None:
        return TwoWay(n, k_persons, k_dialogues, None, None, *parts, lack="one_cluster")
    variance = max(v_persons + v_dialogues - v_plain, v_persons, v_dialogues)
    if squares > 0 and variance <= _ROUNDING * v_plain:
        return TwoWay(n, k_persons, k_dialogues, fewest - 1, None, *parts, lack="no_spread")
    return TwoWay(n, k_persons, k_dialogues, fewest - 1, variance, *parts)


def proportion(y: ArrayLike, participant: ArrayLike, item: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Share of ones with the two-way interval: Wilson with n_eff = p(1−p)/V and t in the place of z.

    u_i = (y_i − p)/N. p = 0 or 1 leaves no variance to estimate: n_eff = min(participants, items) and z.
    No data: no value; one cluster (with 0 < p < 1): a value without interval.
    """
    values = zeros_and_ones(y)
    n = values.size
    if n == 0:
        return Estimate(None, 0, level=level, participants=0, items=0, lack="no_data")
    p = float(values.mean())
    spread = twoway((values - p) / n, participant, item)
    if p in (0.0, 1.0):
        n_eff = float(min(spread.participants, spread.items))
        low, high = wilson_bounds(p, n_eff, critical(level))
        return Estimate(p, n, None, low, high, level, None, spread.participants, spread.items, n_eff)
    if spread.variance is None or spread.df is None:
        return _without_interval(p, spread, level)
    n_eff = p * (1 - p) / spread.variance
    low, high = wilson_bounds(p, n_eff, critical(level, spread.df))
    return Estimate(p, n, spread.se, low, high, level, spread.df, spread.participants, spread.items, n_eff)


def mean(x: ArrayLike, participant: ArrayLike, item: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean of scores ± t√V with u_i = (x_i − x̄)/N. No data: no value. All equal: no interval
    (``no_spread``), since nothing was seen of how much scores vary."""
    values = floats(x)
    if values.size == 0:
        return Estimate(None, 0, level=level, participants=0, items=0, lack="no_data")
    centre = float(values.mean())
    return from_influence(centre, (values - centre) / values.size, participant, item, level=level)


def difference(
    y: ArrayLike, first: ArrayLike, participant: ArrayLike, item: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Mean of y where ``first`` holds minus mean where it does not, ± t√V.

    u_i = (y_i − mean₁)/N₁ in the first group, −(y_i − mean₀)/N₀ in the other; persons may stand in both, so
    their covariance is in V. df from the smaller number of clusters in either group. A group without data:
    no value, n counts what there is. Both groups constant: a value without interval (``no_spread``).
    """
    values, inside = floats(y), np.asarray(first, dtype=bool)
    if inside.size != values.size:
        raise ValueError("y and first have one entry per verdict")
    n_first, n_other = int(inside.sum()), int((~inside).sum())
    if n_first == 0 or n_other == 0:
        return Estimate(None, values.size, level=level, lack="no_data")
    high, low = float(values[inside].mean()), float(values[~inside].mean())
    u = np.where(inside, (values - high) / n_first, -(values - low) / n_other)
    return from_influence(high - low, u, participant, item, arm=inside, level=level)


def from_influence(
    value: float,
    u: ArrayLike,
    participant: ArrayLike,
    item: ArrayLike,
    *,
    arm: ArrayLike | None = None,
    extra: float = 0.0,
    level: float = 0.95,
) -> Estimate:
    """``value`` ± t√(V + ``extra``) from its influence values; ``extra`` is variance they cannot show."""
    spread = twoway(u, participant, item, arm)
    if spread.variance is None or spread.df is None:
        return _without_interval(value, spread, level)
    variance = spread.variance + extra
    if variance <= 0:
        return Estimate(
            value, spread.n, None, None, None, level, spread.df, spread.participants, spread.items,
            lack="no_spread",
        )  # fmt: skip
    half = critical(level, spread.df) * math.sqrt(variance)
    return Estimate(
        value,
        spread.n,
        math.sqrt(variance),
        value - half,
        value + half,
        level,
        spread.df,
        spread.participants,
        spread.items,
    )


def oneway(y: ArrayLike, cluster: ArrayLike) -> OneWay:
    """Mean over clusters of one kind: cluster standard error, intraclass correlation, design effect.

    SE = √(k/(k−1) Σ_clusters (Σu)²) with u_i = (y_i − mean)/N; plain SE = √(Σ(y_i − mean)²)/N, which for
    zeros and ones is √(p(1−p)/n). ICC from one-way analysis of variance: (MSB − MSW)/(MSB + (n₀ − 1) MSW),
    n₀ = (N − Σn_c²/N)/(k − 1); it may come out below 0 and is left so. Design effect 1 + (m − 1) ICC with
    m = Σn_c²/N, the cluster size an observation finds itself in (Kish 1965).

    Undefined: no data; SE with one cluster; ICC with one cluster, with clusters of one, or all values equal.
    Source: Donner & Klar 2000.
    """
    values, groups = floats(y), codes(cluster)
    n = values.size
    if groups.size != n:
        raise ValueError("y and cluster have one entry per observation")
    if n == 0:
        return OneWay(None, 0, 0, None, None, None, None, "no_data")
    centre = float(values.mean())
    deviations = values - centre
    sizes = np.bincount(groups)
    sums = np.bincount(groups, weights=deviations)[sizes > 0]
    sizes = sizes[sizes > 0]
    k = sizes.size
    total = square_sum(deviations)
    se_plain = math.sqrt(total) / n
    if k < 2:
        return OneWay(centre, n, k, se_plain, None, None, None, "one_cluster")
    se = math.sqrt(k / (k - 1) * square_sum(sums)) / n
    between = float((sums**2 / sizes).sum())
    square_size = float((sizes.astype(np.float64) ** 2).sum()) / n
    icc = None
    if n > k and total > 0:
        msb, msw = between / (k - 1), max(0.0, total - between) / (n - k)
        n0 = (n - square_size) / (k - 1)
        icc = (msb - msw) / (msb + (n0 - 1) * msw)
    effect = None if icc is None else 1 + (square_size - 1) * icc
    return OneWay(centre, n, k, se_plain, se, icc, effect, "" if icc is not None else "no_spread")


def _without_interval(value: float, spread: TwoWay, level: float) -> Estimate:
    return Estimate(
        value,
        spread.n,
        level=level,
        df=spread.df,
        participants=spread.participants,
        items=spread.items,
        lack=spread.lack,
    )


def _cluster_variance(u: Floats, groups: Codes, k: int) -> float | None:
    if k < 2:
        return None
    sums = np.bincount(groups, weights=u)
    return k / (k - 1) * square_sum(sums)

"""The result every figure comes in, and intervals for a single independent sample.

What two samples at once (participants *and* dialogues) need is in ``clustering``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

# Not scipy.stats: loading it costs every process and command two seconds.
from scipy import special

#: Why a figure has no value (or no interval); empty where nothing is missing.
Lack = Literal["", "no_data", "one_cluster", "no_spread"]

Standing = Literal["below", "undecided", "above"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with what it rests on. ``None`` means "no value", never zero.

    ``n`` counts observations, ``participants`` and ``items`` the clusters behind them (``None`` where
    there is no such grouping). ``df`` is ``None`` where the normal distribution was used. ``n_eff`` is the
    number of independent observations that would give the same variance (proportions only). ``lack`` says
    what was missing.
    """

    value: float | None
    n: int
    se: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    df: int | None = None
    participants: int | None = None
    items: int | None = None
    n_eff: float | None = None
    lack: Lack = ""


class HypothesisTest(NamedTuple):
    """A test statistic with its two-sided p and the degrees of freedom (``None``: normal)."""

    statistic: float | None
    p: float | None
    df: int | None


def critical(level: float, df: int | None = None) -> float:
    """Two-sided critical value for confidence ``level``: t with ``df`` degrees of freedom, else normal z."""
    if not 0 < level < 1:
        raise ValueError("level lies between 0 and 1")
    upper = 0.5 + level / 2
    return float(special.ndtri(upper) if df is None else special.stdtrit(df, upper))


def wilson_bounds(p: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's score bounds for a proportion ``p`` on ``n`` observations at critical value ``z``.

    (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n). ``n`` may be an effective size, so not whole.
    Source: Wilson 1927, JASA 22:209.
    """
    z2 = z * z
    middle = p + z2 / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    scale = 1 + z2 / n
    # Rounding must not push a bound past the point it belongs to when p is exactly 0 or 1.
    low = 0.0 if p <= 0 else (middle - half) / scale
    high = 1.0 if p >= 1 else (middle + half) / scale
    return max(0.0, low), min(1.0, high)


def plain_se(successes: float, n: int) -> float | None:
    """Standard error of a proportion of independent observations: √(p(1−p)/n). ``None`` for n = 0."""
    _check_counts(successes, n)
    if n == 0:
        return None
    p = successes / n
    return math.sqrt(p * (1 - p) / n)


def wilson(successes: float, n: int, *, level: float = 0.95) -> Estimate:
    """Proportion with Wilson's score interval (z = 1.959964 at .95).

    Only for one observation per unit: repeated verdicts of a person or on a dialogue make it too narrow.
    n = 0: no value. Source: Wilson 1927; Brown, Cai, DasGupta 2001.
    """
    _check_counts(successes, n)
    if n == 0:
        return Estimate(None, 0, level=level, lack="no_data")
    p = successes / n
    low, high = wilson_bounds(p, n, critical(level))
    return Estimate(p, n, plain_se(successes, n), low, high, level, n_eff=float(n))


def at_level(estimate: Estimate, level: float) -> Estimate:
    """The same estimate with the interval value ± t·SE of another confidence level (normal without df).

    For differences, d′, slopes, means; not for proportions, whose interval is no multiple of the SE. Without
    an interval: as it is, with the other level.
    """
    if estimate.value is None or estimate.se is None or estimate.low is None:
        return replace(estimate, level=level)
    half = critical(level, estimate.df) * estimate.se
    return replace(estimate, low=estimate.value - half, high=estimate.value + half, level=level)


def standing(estimate: Estimate, line: float = 0.5) -> Standing | None:
    """Where the interval lies against ``line``: below, undecided or above. ``None`` without an interval.

    Decided by the interval alone, never by the point.
    """
    if estimate.low is None or estimate.high is None:
        return None
    if estimate.high < line:
        return "below"
    if estimate.low > line:
        return "above"
    return "undecided"


def equivalent(narrow: Estimate, margin: float) -> bool | None:
    """Two one-sided tests at .05: is the 90 % interval of a difference inside ±``margin``?

    ``narrow`` must have been made with ``level=.90``. No interval: ``None`` (not decided for lack of data),
    which is not the same as "not equivalent". Source: Schuirmann 1987; Westlake 1976.
    """
    if margin <= 0:
        raise ValueError("margin is above 0")
    if not math.isclose(narrow.level, 0.90):
        raise ValueError("equivalence is read from the 90 % interval")
    if narrow.low is None or narrow.high is None:
        return None
    return -margin < narrow.low and narrow.high < margin


def proportion_test(estimate: Estimate, line: float = 0.5) -> HypothesisTest:
    """Two-sided test of a proportion against ``line``, the one its interval inverts.

    (p − line) / √(line(1 − line)/n_eff), t with the estimate's df (normal where df is ``None``). So p < .05
    exactly where the .95 interval leaves out ``line``. No n_eff: no value.
    """
    if not 0 < line < 1:
        raise ValueError("line lies between 0 and 1")
    if estimate.value is None or estimate.n_eff is None:
        return HypothesisTest(None, None, None)
    statistic = (estimate.value - line) / math.sqrt(line * (1 - line) / estimate.n_eff)
    return HypothesisTest(statistic, two_sided(statistic, estimate.df), estimate.df)


def difference_test(estimate: Estimate, against: float = 0.0) -> HypothesisTest:
    """Two-sided test of value = ``against`` by (value − against)/se, t with the estimate's df. For
    differences, d′ and slopes. No standard error, or one of zero: no value."""
    if estimate.value is None or not estimate.se:
        return HypothesisTest(None, None, None)
    statistic = (estimate.value - against) / estimate.se
    return HypothesisTest(statistic, two_sided(statistic, estimate.df), estimate.df)


def two_sided(statistic: float, df: int | None = None) -> float:
    """Two-sided p of a statistic under t with ``df`` degrees of freedom, else under the normal."""
    lower = -abs(statistic)
    return float(2 * (special.ndtr(lower) if df is None else special.stdtr(df, lower)))


def _check_counts(successes: float, n: int) -> None:
    if n < 0 or successes < 0 or successes > n:
        raise ValueError("0 ≤ successes ≤ n")

"""Telling humans from machines: d′, criterion c, balanced accuracy.

The signal is a human speaker B, a hit a human judged human, a false alarm a machine judged human.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from .arrays import Codes, Floats, clusters, codes, floats, zeros_and_ones
from .clustering import from_influence
from .intervals import Estimate, critical


@dataclass(frozen=True, slots=True)
class Detection:
    """Sensitivity d′ and criterion c of the same verdicts. c above 0 leans to "machine"."""

    dprime: Estimate
    criterion: Estimate


def corrected_rate(successes: float, n: int) -> float:
    """Log-linear correction (x + .5)/(n + 1): rates of 0 and 1 get finite z. Source: Hautus 1995."""
    if n <= 0 or not 0 <= successes <= n:
        raise ValueError("0 ≤ successes ≤ n, n above 0")
    return (successes + 0.5) / (n + 1)


def detection_counts(
    hits: float, signals: int, false_alarms: float, noises: int, *, level: float = 0.95
) -> Detection:
    """d′ = z(H) − z(F), c = −(z(H) + z(F))/2 from counts, rates log-linearly corrected.

    Plain variance H(1−H)/(n φ(z(H))²) + the same for F (Gourevitch & Galanter 1967), a quarter of it for c:
    only for independent verdicts. Without human or without machine items: no value.
    """
    total = signals + noises
    if signals == 0 or noises == 0:
        lacking = Estimate(None, total, level=level, lack="no_data")
        return Detection(lacking, lacking)
    hit, alarm = corrected_rate(hits, signals), corrected_rate(false_alarms, noises)
    z_hit, z_alarm = _z(hit), _z(alarm)
    variance = _binomial_variance(hit, signals) + _binomial_variance(alarm, noises)
    return Detection(
        _normal(z_hit - z_alarm, variance, total, level),
        _normal(-(z_hit + z_alarm) / 2, variance / 4, total, level),
    )


def detection(
    judged_human: ArrayLike,
    is_human: ArrayLike,
    participant: ArrayLike,
    item: ArrayLike,
    *,
    level: float = 0.95,
) -> Detection:
    """d′ and c with the two-way standard error.

    u_i = (y_i − p)/(n φ(z)) with the arm's raw share p, its size n and z of its corrected rate; plus for
    human items, minus for machine items (c: −½ of both). df: the smaller number of clusters in either arm.
    An arm whose raw share is 0 or 1 has no influence values; it adds the plain variance with
    n = min(participants, items) of that arm, the rule that proportions follow there.

    An arm without data: no value. One cluster in an arm: a value without interval.
    """
    y, signal = zeros_and_ones(judged_human), np.asarray(is_human, dtype=bool)
    persons, dialogues = codes(participant), codes(item)
    if signal.size != y.size or persons.size != y.size or dialogues.size != y.size:
        raise ValueError("one entry per verdict in every array")
    if not signal.any() or signal.all():
        lacking = Estimate(None, y.size, level=level, lack="no_data")
        return Detection(lacking, lacking)
    z_hit, u_hit, extra_hit = _arm(y, signal, persons, dialogues)
    z_alarm, u_alarm, extra_alarm = _arm(y, ~signal, persons, dialogues)
    extra = extra_hit + extra_alarm
    return Detection(
        from_influence(
            z_hit - z_alarm, u_hit - u_alarm, persons, dialogues, arm=signal, extra=extra, level=level
        ),
        from_influence(
            -(z_hit + z_alarm) / 2,
            -(u_hit + u_alarm) / 2,
            persons,
            dialogues,
            arm=signal,
            extra=extra / 4,
            level=level,
        ),
    )


def dprime_difference(
    judged_human: ArrayLike,
    first: ArrayLike,
    other: ArrayLike,
    participant: ArrayLike,
    item: ArrayLike,
    *,
    humans: tuple[ArrayLike, ArrayLike] | None = None,
    level: float = 0.95,
) -> Estimate:
    """d′ of the machine ``first`` minus d′ of the machine ``other``, with the two-way standard error.

    ``first`` and ``other`` say which verdicts are on which machine, ``humans`` which are on the humans that
    each is told from. Where these are the same (or not given) z(H) cancels: z(F_other) − z(F_first), with
    influence values as in :func:`detection` and df from the two machines alone. Otherwise
    [z(H₁) − z(F₁)] − [z(H₂) − z(F₂)] with the influence values of all four arms, those of a human in both
    added, and df from the smaller number of clusters in either machine or among the humans.

    An arm without data: no value. One cluster in an arm: a value without interval.
    """
    y, persons, dialogues = (np.asarray(array).ravel() for array in (judged_human, participant, item))
    machines = [np.asarray(mask, dtype=bool) for mask in (first, other)]
    beside = [np.asarray(mask, dtype=bool) for mask in humans] if humans is not None else []
    if any(mask.size != y.size for mask in (*machines, *beside, persons, dialogues)):
        raise ValueError("one entry per verdict in every array")
    if (machines[0] & machines[1]).any():
        raise ValueError("a verdict is on one machine")
    if beside and (beside[0] == beside[1]).all():
        beside = []
    arms = list(zip((*machines, *beside), (-1, 1, 1, -1), strict=False))
    used = np.logical_or.reduce([mask for mask, _sign in arms])
    if not all(mask.any() for mask, _sign in arms):
        return Estimate(None, int(used.sum()), level=level, lack="no_data")
    ones, people, clips = zeros_and_ones(y[used]), codes(persons[used]), codes(dialogues[used])
    value, extra, u = 0.0, 0.0, np.zeros(ones.size)
    for mask, sign in arms:
        z, of_arm, hidden = _arm(ones, mask[used], people, clips)
        value += sign * z
        u += sign * of_arm
        extra += hidden
    which = np.where(machines[0], 1, np.where(machines[1], 2, 0))[used]
    return from_influence(value, u, people, clips, arm=which, extra=extra, level=level)


def balanced_accuracy(
    correct: ArrayLike,
    is_human: ArrayLike,
    participant: ArrayLike,
    item: ArrayLike,
    *,
    level: float = 0.95,
) -> Estimate:
    """Mean of the accuracy on human and on machine items, ± t√V, clipped to 0–1.

    u_i = (y_i − a)/(2 n) with the arm's accuracy a and size n. Always answering "machine" gives .5 whatever
    the mix. An arm without data: no value. Both arms constant: a value without interval.
    """
    y, signal = floats(correct), np.asarray(is_human, dtype=bool)
    if signal.size != y.size:
        raise ValueError("one entry per verdict in every array")
    n_human, n_machine = int(signal.sum()), int((~signal).sum())
    if n_human == 0 or n_machine == 0:
        return Estimate(None, y.size, level=level, lack="no_data")
    human, machine = float(y[signal].mean()), float(y[~signal].mean())
    u = np.where(signal, (y - human) / (2 * n_human), (y - machine) / (2 * n_machine))
    raw = from_influence((human + machine) / 2, u, participant, item, arm=signal, level=level)
    if raw.low is None or raw.high is None:
        return raw
    return Estimate(
        raw.value, raw.n, raw.se, max(0.0, raw.low), min(1.0, raw.high), level, raw.df,
        raw.participants, raw.items,
    )  # fmt: skip


def _arm(
    y: Floats, inside: NDArray[np.bool_], persons: Codes, dialogues: Codes
) -> tuple[float, Floats, float]:
    """z of one arm's corrected rate, its influence values (0 outside), the variance they cannot show."""
    n = int(inside.sum())
    successes = float(y[inside].sum())
    share, rate = successes / n, corrected_rate(successes, n)
    z = _z(rate)
    u = np.where(inside, (y - share) / (n * _density(z)), 0.0)
    if 0 < share < 1:
        return z, u, 0.0
    n_eff = min(clusters(persons[inside]), clusters(dialogues[inside]))
    return z, u, _binomial_variance(rate, n_eff)


def _z(rate: float) -> float:
    return float(special.ndtri(rate))


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _binomial_variance(rate: float, n: int) -> float:
    return rate * (1 - rate) / (n * _density(_z(rate)) ** 2)


def _normal(value: float, variance: float, n: int, level: float) -> Estimate:
    half = critical(level) * math.sqrt(variance)
    return Estimate(value, n, math.sqrt(variance), value - half, value + half, level)

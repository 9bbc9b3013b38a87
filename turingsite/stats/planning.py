"""How many people a study needs: correlations from a pilot, persons for a test or an interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .arrays import codes, square_sum, zeros_and_ones
from .intervals import critical

#: Where there is no pilot: correlation of two verdicts of a person, and of two verdicts on a dialogue.
ICC_PERSON, ICC_DIALOGUE = 0.07, 0.10
MOST_DIALOGUES = 10_000


@dataclass(frozen=True, slots=True)
class Plan:
    """Persons that a system needs. ``None``: not reachable with so many dialogues, however many people come;
    ``fewest_dialogues`` is where it begins to be (``None``: not with ten thousand either)."""

    persons: int | None
    dialogues: int
    fewest_dialogues: int | None


def icc_by_pairs(y: ArrayLike, cluster: ArrayLike) -> float | None:
    """Observed-scale intraclass correlation of zeros and ones by pairs.

    Σ_{i≠j in the same cluster} e_i e_j / (pairs · p(1−p)) with e_i = y_i − p; ordered pairs. May be negative.
    No pair, no data, or all equal: ``None``. Source: Karlin, Cameron, Williams 1981 (equal pair weights).
    """
    values, groups = zeros_and_ones(y), codes(cluster)
    if values.size != groups.size:
        raise ValueError("y and cluster have one entry per verdict")
    if values.size == 0:
        return None
    p = float(values.mean())
    errors = values - p
    sizes = np.bincount(groups).astype(np.float64)
    pairs = float((sizes * (sizes - 1)).sum())
    if pairs == 0 or p in (0.0, 1.0):
        return None
    together = square_sum(np.bincount(groups, weights=errors)) - square_sum(errors)
    return together / (pairs * p * (1 - p))


def persons_for_test(
    p: float,
    against: float,
    dialogues: int,
    *,
    verdicts_each: float = 2,
    power: float = 0.80,
    alpha: float = 0.05,
    icc_person: float = ICC_PERSON,
    icc_dialogue: float = ICC_DIALOGUE,
) -> Plan:
    """Persons needed to tell a share ``p`` from ``against`` on ``dialogues`` dialogues of a system.

    N = (1 + (a−1)ρ_p − ρ_d)/(T − ρ_d/D) with T = (Δ/(t_{1−α/2} + t_power))²/(p(1−p)), t with D − 1 df; a is
    ``verdicts_each``, the verdicts of a person on the system. T ≤ ρ_d/D: not reachable.
    """
    if not 0 < power < 1:
        raise ValueError("power lies between 0 and 1")
    gap = abs(p - against)
    if gap == 0:
        raise ValueError("p and against differ")

    def wanted(df: int) -> float:
        return gap / (critical(1 - alpha, df) + float(special.stdtrit(df, power)))

    return _plan(wanted, p, dialogues, verdicts_each, icc_person, icc_dialogue)


def persons_for_interval(
    p: float,
    half_width: float,
    dialogues: int,
    *,
    verdicts_each: float = 2,
    level: float = 0.95,
    icc_person: float = ICC_PERSON,
    icc_dialogue: float = ICC_DIALOGUE,
) -> Plan:
    """Persons needed for an interval of ± ``half_width`` around ``p``: as for a test, with
    T = (w/t_{1−α/2})²/(p(1−p))."""
    if half_width <= 0:
        raise ValueError("half_width is above 0")

    def wanted(df: int) -> float:
        return half_width / critical(level, df)

    return _plan(wanted, p, dialogues, verdicts_each, icc_person, icc_dialogue)


def _plan(
    wanted: Callable[[int], float],
    p: float,
    dialogues: int,
    verdicts_each: float,
    icc_person: float,
    icc_dialogue: float,
) -> Plan:
    """``wanted`` gives the standard error to be reached for degrees of freedom."""
    if not 0 < p < 1:
        raise ValueError("p lies between 0 and 1")
    if dialogues < 2 or verdicts_each <= 0:
        raise ValueError("at least two dialogues, and verdicts from everybody")

    def spare(count: int) -> float:
        return wanted(count - 1) ** 2 / (p * (1 - p)) - icc_dialogue / count

    persons = None
    if spare(dialogues) > 0:
        needed = (1 + (verdicts_each - 1) * icc_person - icc_dialogue) / spare(dialogues)
        # Two at the least: with one person nothing is known of how people differ.
        persons = max(2, math.ceil(needed - 1e-9))
    fewest = next((count for count in range(2, MOST_DIALOGUES + 1) if spare(count) > 0), None)
    return Plan(persons, dialogues, fewest)

"""Scores 1–5 against reference scores: how often right, how far off, and on which side of the middle.

Scores below 3 lean to *machine*, above 3 to *human*; 1–2 and 4–5 are clear. NaN is "no evidence".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats
from .intervals import Estimate
from .ratings import paired, ratings

MIDDLE = 3.0
_LOWEST, _HIGHEST = 1.0, 5.0


@dataclass(frozen=True, slots=True)
class OrdinalAccuracy:
    """Shares of ``n`` pairs of scores: equal; in the same group 1–2, 3, 4–5; at most 1 apart."""

    n: int
    exact: float | None
    group: float | None
    within_one: float | None


def ordinal_accuracy(scores: ArrayLike, reference: ArrayLike) -> OrdinalAccuracy:
    """Exact, grouped (1–2 / 3 / 4–5) and within ±1 accuracy of scores 1, 2 … 5 against a reference.

    Pairs where either is missing are left out. No pairs: ``None`` with n = 0. Anything but whole scores 1–5
    is refused: round predictions first.
    """
    given, wanted = paired(scores, reference)
    for values in (given, wanted):
        _check_scale(values)
        if (values != np.rint(values)).any():
            raise ValueError("scores are whole")
    n = given.size
    if n == 0:
        return OrdinalAccuracy(0, None, None, None)
    apart = np.abs(given - wanted)
    return OrdinalAccuracy(
        n,
        float((apart == 0).mean()),
        float((np.sign(given - MIDDLE) == np.sign(wanted - MIDDLE)).mean()),
        float((apart <= 1).mean()),
    )


def mean_absolute_difference(scores: ArrayLike, reference: ArrayLike) -> Estimate:
    """Σ|score − reference|/n over the pairs where both have evidence, in steps of the scale (0–4).

    No such pair: no value.
    """
    given, wanted = paired(scores, reference)
    if given.size == 0:
        return Estimate(None, 0, lack="no_data")
    return Estimate(float(np.abs(given - wanted).mean()), given.size)


def right_side_share(scores: ArrayLike, reference: ArrayLike) -> Estimate:
    """Share of the reference's clear scores (≤ 2, ≥ 4) that a rater put on the same side of 3.

    A 3 and "no evidence" (NaN) are not on the right side, so nobody passes by leaving out what is hard;
    ``n`` counts all clear scores of the reference. None is clear: no value.
    """
    given, wanted = ratings(scores).ravel(), ratings(reference).ravel()
    if given.size != wanted.size:
        raise ValueError("one entry per score in every array")
    for values in (given, wanted):
        _check_scale(values[~np.isnan(values)])
    clear = np.abs(wanted - MIDDLE) >= 1
    if not clear.any():
        return Estimate(None, 0, lack="no_data")
    right = np.sign(given[clear] - MIDDLE) == np.sign(wanted[clear] - MIDDLE)
    return Estimate(float(right.mean()), int(clear.sum()))


def clear_against_truth(reference: ArrayLike, is_human: ArrayLike) -> Estimate:
    """Share of clear scores (≤ 2, ≥ 4) that point away from what speaker B is: ≥ 4 for a machine, ≤ 2 for a
    human. ``is_human`` has one entry per score. None is clear: no value."""
    values, human = ratings(reference).ravel(), np.asarray(is_human, dtype=bool).ravel()
    if values.size != human.size:
        raise ValueError("one entry per score in every array")
    _check_scale(values[~np.isnan(values)])
    clear = np.abs(values - MIDDLE) >= 1
    if not clear.any():
        return Estimate(None, 0, lack="no_data")
    against = (values[clear] > MIDDLE) != human[clear]
    return Estimate(float(against.mean()), int(clear.sum()))


def _check_scale(values: Floats) -> None:
    if ((values < _LOWEST) | (values > _HIGHEST)).any():
        raise ValueError("scores lie between 1 and 5")

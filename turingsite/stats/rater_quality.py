"""How one rater scores: halo, drift, agreement with oneself, straight-lining.

Scores are dialogues × dimensions of one rater, NaN where there is no evidence or no answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Floats, product_sum, square_sum
from .intervals import Estimate, Lack, critical
from .kappa import cohen_kappa
from .ratings import paired, ratings

SCALE = (1.0, 2.0, 3.0, 4.0, 5.0)


@dataclass(frozen=True, slots=True)
class Halo:
    """Share of variance of the first component, of ``n`` dialogues on ``dimensions`` that could be used.

    ``unrelated``: the mean share of the same scores when each dimension is shuffled over dialogues.
    """

    value: float | None
    n: int
    dimensions: int
    unrelated: float | None = None
    lack: Lack = ""


@dataclass(frozen=True, slots=True)
class Retest:
    """First and second scores of the same rater on the same things: shares of ``n`` pairs, weighted kappa."""

    n: int
    exact: float | None
    within_one: float | None
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class StraightLining:
    """Of ``n`` answers in ``dialogues``: longest run of one answer, the most used answer and its share, share
    of dialogues with one answer throughout."""

    n: int
    dialogues: int
    longest_run: int | None
    most_used: float | None
    most_used_share: float | None
    flat_share: float | None


def halo(scores: ArrayLike, *, fewest: int = 10, shuffles: int = 100, seed: int = 0) -> Halo:
    """Largest eigenvalue of the correlation matrix of a rater's dimensions / sum of eigenvalues.

    Correlations, not covariances: halo is that dimensions move *together*; under covariances the dimension
    on which a rater spreads most would pass for a component of its own, and one dimension used among constant
    ones for a perfect halo. Each correlation is over the dialogues where both have evidence (filling in means
    would make raters with much "no evidence" look free of halo); a pair with fewer than three such, or
    constant there, counts as 0; negative eigenvalues, which gaps can cause, count as 0. Dimensions with fewer
    than ``fewest`` scores or constant ones are left out.

    1/dimensions: nothing in common; 1: one judgement said many times. Few dialogues raise it without any
    halo, so ``unrelated`` is the mean over ``shuffles`` with every dimension shuffled by itself over its
    scores (Horn's parallel analysis). Dialogues that differ in truth raise it too: compare raters of the same
    dialogues. Fewer than ``fewest`` dialogues or two dimensions with data: no value (``no_data``);
    dimensions constant: no value (``no_spread``).
    Source: Cooper 1981, Psychological Bulletin 90:218; Horn 1965, Psychometrika 30:179.
    """
    array = _table(scores)
    known = ~np.isnan(array)
    n = int(known.any(axis=1).sum())
    enough = known.sum(axis=0) >= fewest
    if n < fewest or enough.sum() < 2:
        return Halo(None, n, int(enough.sum()), lack="no_data")
    varying = np.array([np.ptp(column[~np.isnan(column)]) > 0 for column in array[:, enough].T])
    used = array[known.any(axis=1)][:, enough][:, varying]
    dimensions = used.shape[1]
    if dimensions < 2:
        return Halo(None, n, dimensions, lack="no_spread")
    value = _first_share(used[None])[0]
    rng = np.random.default_rng(seed)
    shuffled = np.repeat(used[None], shuffles, axis=0)
    for at in range(dimensions):
        there = ~np.isnan(used[:, at])
        shuffled[:, there, at] = rng.permuted(shuffled[:, there, at], axis=1)
    unrelated = float(_first_share(shuffled).mean()) if shuffles else None
    return Halo(float(value), n, dimensions, unrelated)


def others_mean(scores: ArrayLike) -> Floats:
    """Mean of the *other* raters for each score: units × raters (× dimensions) → the same shape.

    NaN where no other rater scored that unit; given too where the rater did not.
    """
    array = ratings(scores)
    known = ~np.isnan(array)
    filled = np.where(known, array, 0.0)
    total = filled.sum(axis=1, keepdims=True) - filled
    count = known.sum(axis=1, keepdims=True) - known
    mean: Floats = np.divide(total, count, out=np.full(array.shape, np.nan), where=count > 0)
    return mean


def drift(own: ArrayLike, others: ArrayLike, order: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Slope of a rater's deviation from the other raters' mean over the order of work, per unit of ``order``.

    ``own`` and ``others`` (from :func:`others_mean`): dialogues × dimensions, or one value per dialogue. A
    dialogue's deviation is the mean of own − others over the dimensions where both are known, so that the
    scores of one dialogue, which go together, count once. Least squares, SE = √(Σe²/(n − 2)/Σ(x − x̄)²), t
    with n − 2 df. Above 0: the rater grows milder, hears more human, than the others. ``n``: dialogues.

    Fewer than three dialogues: no value (``no_data``); ``order`` constant: no value (``no_spread``);
    deviations exactly on a line: a value without interval (``no_spread``).
    """
    mine, theirs, place = ratings(own), ratings(others), ratings(order).ravel()
    if mine.shape != theirs.shape or mine.shape[:1] != place.shape or np.isnan(place).any():
        raise ValueError("own and others have one row per entry of order")
    gaps = mine - theirs if mine.ndim > 1 else (mine - theirs)[:, None]
    known = ~np.isnan(gaps)
    there = known.any(axis=1)
    n = int(there.sum())
    if n < 3:
        return Estimate(None, n, level=level, lack="no_data")
    y = np.where(known, gaps, 0.0).sum(axis=1)[there] / known.sum(axis=1)[there]
    x = place[there] - place[there].mean()
    spread = square_sum(x)
    if spread == 0:
        return Estimate(None, n, level=level, lack="no_spread")
    slope = product_sum(x, y) / spread
    rest = square_sum(y - y.mean() - slope * x)
    if rest <= 1e-12 * max(1.0, square_sum(y)):
        return Estimate(slope, n, level=level, df=n - 2, lack="no_spread")
    se = math.sqrt(rest / (n - 2) / spread)
    half = critical(level, n - 2) * se
    return Estimate(slope, n, se, slope - half, slope + half, level, n - 2)


def retest(first: ArrayLike, again: ArrayLike) -> Retest:
    """A rater's scores on hidden repeats: share equal, share at most 1 apart, quadratic-weighted kappa.

    Pairs where either is missing are left out. No pairs: ``None`` with n = 0; kappa has no value where the
    rater gave the same score throughout.
    """
    before, after = paired(first, again)
    kappa = cohen_kappa(before, after, weights="quadratic", values=SCALE)
    if before.size == 0:
        return Retest(0, None, None, kappa)
    apart = np.abs(before - after)
    return Retest(before.size, float((apart == 0).mean()), float((apart <= 1).mean()), kappa)


def straight_lining(answers: ArrayLike) -> StraightLining:
    """Signs of answering without listening, from answers in the order they were given.

    Rows are dialogues in the order of work, columns in the order the rater saw them. Give "no evidence" as
    an answer of its own (key 0), NaN only where nothing was answered; such gaps are passed over. Runs go on
    from one dialogue to the next. A dialogue is flat where its two or more answers are equal (standard
    deviation 0); ``flat_share`` is of dialogues with two or more answers. No answers: ``None``. A tie for
    the most used answer goes to the lower one.
    """
    array = _table(answers)
    known = ~np.isnan(array)
    row = array[known]
    if row.size == 0:
        return StraightLining(0, 0, None, None, None, None)
    ends = np.flatnonzero(np.r_[row[1:] != row[:-1], True])
    values, counts = np.unique(row, return_counts=True)
    most = int(counts.argmax())
    several = array[known.sum(axis=1) >= 2]
    flat = [bool(np.ptp(line[~np.isnan(line)]) == 0) for line in several]
    return StraightLining(
        row.size,
        int(known.any(axis=1).sum()),
        int(np.diff(np.r_[-1, ends]).max()),
        float(values[most]),
        float(counts[most]) / row.size,
        sum(flat) / len(flat) if flat else None,
    )


def _table(scores: ArrayLike) -> Floats:
    array = ratings(scores)
    if array.ndim != 2:
        raise ValueError("scores are dialogues × dimensions")
    return array


def _first_share(stacks: Floats) -> NDArray[np.float64]:
    """Share of the first component for each of (stack × dialogues × dimensions)."""
    known = (~np.isnan(stacks)).astype(np.float64)
    filled = np.where(known > 0, stacks, 0.0)
    # Centred first: sums of squares of raw scores would lose digits.
    filled = np.where(known > 0, filled - (filled.sum(1) / known.sum(1))[:, None], 0.0)
    turned = filled.transpose(0, 2, 1)
    shared = known.transpose(0, 2, 1) @ known
    count = np.maximum(shared, 1)
    sums = turned @ known
    squares = turned**2 @ known
    cross = turned @ filled - sums * sums.transpose(0, 2, 1) / count
    spread = squares - sums**2 / count
    below = np.sqrt(np.maximum(spread * spread.transpose(0, 2, 1), 0))
    usable = (shared >= 3) & (below > 1e-9)
    correlations = np.clip(np.divide(cross, below, out=np.zeros_like(cross), where=usable), -1, 1)
    diagonal = np.arange(stacks.shape[2])
    correlations[:, diagonal, diagonal] = 1
    eigenvalues = np.maximum(np.linalg.eigvalsh(correlations), 0)
    share: NDArray[np.float64] = eigenvalues[:, -1] / eigenvalues.sum(axis=1)
    return share

"""Scores of raters as arrays, units × raters, NaN where there is none; both codings of "no evidence"."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Floats

#: The published coding of a score without evidence.
EITHER = 3.0


class RatingsArray(NamedTuple):
    """Scores as units × raters, or units × raters × dimensions, with the labels of each axis.

    ``raters`` is empty where columns are slots: the first, second, … score of a unit, whoever gave it.
    """

    values: Floats
    units: NDArray[Any]
    raters: NDArray[Any]
    dimensions: NDArray[Any]


class Codings(NamedTuple):
    """The same scores in both codings, and the share without evidence of the ``n`` answers given."""

    published: Floats
    evidence: Floats
    share: float | None
    n: int


def ratings_array(
    score: ArrayLike,
    unit: ArrayLike,
    rater: ArrayLike | None = None,
    dimension: ArrayLike | None = None,
) -> RatingsArray:
    """Long rows (one score each) as an array; what nobody scored is NaN, like a score that is NaN itself.

    Axes are sorted by label, so the order of rows does not matter, not even to a seeded bootstrap. Without
    ``rater`` columns are slots in the order of rows, as few as the fullest unit needs: all that alpha and
    percent agreement want, and small where many raters score few units each. With ``rater`` a second score
    of the same rater, unit and dimension is refused (ValueError).
    """
    values = ratings(score).ravel()
    units, row = _labels(unit, values.size)
    dimensions, layer = _labels(dimension, values.size)
    if rater is None:
        column = _slots(row * max(1, dimensions.size) + layer)
        raters, width = np.array([]), int(column.max(initial=-1)) + 1
    else:
        raters, column = _labels(rater, values.size)
        width = raters.size
    shape = (units.size, width, dimensions.size)
    place = np.ravel_multi_index((row, column, layer), shape) if values.size else row
    if np.unique(place).size != values.size:
        raise ValueError("a rater scores a unit once on a dimension")
    array = np.full(shape, np.nan)
    array.flat[place] = values
    if dimension is None:
        return RatingsArray(array.reshape(shape[:2]), units, raters, np.array([]))
    return RatingsArray(array, units, raters, dimensions)


def codings(scores: ArrayLike, no_evidence: ArrayLike) -> Codings:
    """Published coding (a score without evidence is 3, "either") and evidence only (it is missing).

    ``no_evidence`` has the scores' shape. NaN in ``scores`` (nobody answered) stays NaN in both unless it is
    flagged; share of no evidence = flagged / answers given. No answers: share ``None`` with n = 0.
    Agreement, means and training use evidence only: counted as 3, answers that say nothing agree with one
    another and pull every mean to the middle.
    """
    values, flagged = ratings(scores), np.asarray(no_evidence, dtype=bool)
    if flagged.shape != values.shape:
        raise ValueError("scores and no_evidence have the same shape")
    given = int((flagged | ~np.isnan(values)).sum())
    return Codings(
        np.where(flagged, EITHER, values),
        np.where(flagged, np.nan, values),
        int(flagged.sum()) / given if given else None,
        given,
    )


def ratings(values: ArrayLike) -> Floats:
    """Scores as floats of any shape; NaN is "none", infinite is refused."""
    array = np.asarray(values, dtype=np.float64)
    if np.isinf(array).any():
        raise ValueError("scores are finite numbers, or NaN where there is none")
    return array


def paired(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Two lists of scores of the same things, without those that either lacks."""
    one, other = ratings(first).ravel(), ratings(second).ravel()
    if one.size != other.size:
        raise ValueError("one entry per score in every array")
    both = ~(np.isnan(one) | np.isnan(other))
    return one[both], other[both]


def _labels(labels: ArrayLike | None, size: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Different labels, sorted, and the place of each row's among them; none given: one for all."""
    if labels is None:
        return np.zeros(1, dtype=np.intp), np.zeros(size, dtype=np.intp)
    given: NDArray[Any] = np.asarray(labels).ravel()
    if given.size != size:
        raise ValueError("one label per score")
    different, place = np.unique(given, return_inverse=True)
    return different, place.astype(np.intp, copy=False)


def _slots(keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many rows before have the same key."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sizes = np.diff(np.r_[starts, keys.size])
    slots = np.empty(keys.size, dtype=np.intp)
    slots[order] = np.arange(keys.size) - np.repeat(starts, sizes)
    return slots

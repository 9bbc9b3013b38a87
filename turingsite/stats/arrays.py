"""Verdicts as the arrays the other modules reckon with: values as floats, labels as small whole numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


def codes(labels: ArrayLike) -> Codes:
    """Labels as small whole numbers. Numbers that are small already are taken as they are."""
    given: NDArray[Any] = np.asarray(labels).ravel()
    kind = given.dtype.kind
    if kind == "b":
        return given.astype(np.intp)
    if kind in "iu":
        # Large or negative numbers (database keys) would make tables with more holes than entries.
        if given.size and given.min() >= 0 and given.max() < 2 * given.size + 1024:
            return given.astype(np.intp, copy=False)
        return np.unique(given, return_inverse=True)[1].astype(np.intp, copy=False)
    # Counting through a dictionary beats sorting, and pandas would cost each process a second to load.
    seen: dict[object, int] = {}
    found = np.fromiter(
        (seen.setdefault(label, len(seen)) for label in given.tolist()), dtype=np.intp, count=given.size
    )
    if None in seen or any(isinstance(label, float) and math.isnan(label) for label in seen):
        raise ValueError("every verdict has a participant and an item")
    return found


def clusters(groups: Codes) -> int:
    """How many different codes there are."""
    if groups.size == 0:
        return 0
    seen = np.zeros(int(groups.max()) + 1, dtype=bool)
    seen[groups] = True
    return int(np.count_nonzero(seen))


def floats(values: ArrayLike) -> Floats:
    """Values as one row of finite floats."""
    array = np.asarray(values, dtype=np.float64).ravel()
    # One sum is finite exactly where every entry is, short of overflow.
    if not math.isfinite(float(array.sum())):
        raise ValueError("values are finite numbers")
    return array


def product_sum(values: NDArray[Any], others: NDArray[Any]) -> float:
    """Σ v w. Not ``v @ w``: that goes through threads that wait for each other where the machine is busy."""
    return float(np.einsum("i,i->", values, others))


def square_sum(values: NDArray[Any]) -> float:
    """Σ v²."""
    return product_sum(values, values)


def zeros_and_ones(values: ArrayLike) -> Floats:
    """Values as floats that are 0 or 1 each."""
    array = np.asarray(values, dtype=np.float64).ravel()
    if not ((array == 0) | (array == 1)).all():
        raise ValueError("values are zeros and ones")
    return array

"""Columns of words as numbers: which of its levels each row has. Pure; what arrays are reckoned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Numbers = NDArray[np.intp]


def equal(words: Sequence[Any], word: str) -> Mask:
    """Which of the words are that word."""
    return np.fromiter(map(str(word).__eq__, words), np.bool_, len(words))


def numbered(words: Sequence[str]) -> tuple[Numbers, list[str]]:
    """Words as whole numbers in the order of the sorted words, and what each stands for."""
    levels = sorted(set(words))
    place = {level: number for number, level in enumerate(levels)}
    return np.fromiter(map(place.__getitem__, words), np.intp, len(words)), levels


def together(columns: Sequence[Sequence[Any]]) -> tuple[Numbers, list[tuple[Any, ...]]]:
    """Which combination of values each row has, as a number, and what the combinations are."""
    code = np.zeros(len(columns[0]), dtype=np.intp)
    known: list[tuple[Any, ...]] = [()] if code.size else []
    for column in columns:
        levels = list(dict.fromkeys(column))
        place = {level: number for number, level in enumerate(levels)}
        own = np.fromiter(map(place.__getitem__, column), np.intp, len(column))
        code = code * len(levels) + own
        # Where a place for every combination costs less than sorting the rows, none is sorted.
        if len(known) * len(levels) <= 4 * len(column):
            seen = np.bincount(code, minlength=len(known) * len(levels)) > 0
            used, code = np.flatnonzero(seen), (np.cumsum(seen) - 1)[code]
        else:
            used, code = np.unique(code, return_inverse=True)
        known = [(*known[one // len(levels)], levels[one % len(levels)]) for one in used.tolist()]
    return code, known

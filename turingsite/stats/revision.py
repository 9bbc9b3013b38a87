"""What an expert review changed: how much, how far, and whether towards the truth that reviewers saw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import square_sum
from .ratings import ratings

#: Steps from the lowest to the highest score of the scale 1–5.
SCALE_RANGE = 4.0


@dataclass(frozen=True, slots=True)
class RevisionImpact:
    """``changed`` of ``n`` scores were revised, a share of ``share``.

    Over the changed ones, ``None`` where there are none: ``rmse`` in steps of the scale, ``ratio`` =
    rmse / range, ``pull`` the share moved towards the truth's pole, ``move`` the mean move, above 0 towards
    it.
    """

    n: int
    changed: int
    share: float | None
    rmse: float | None
    ratio: float | None
    pull: float | None
    move: float | None


def revision_impact(
    raw: ArrayLike,
    revised: ArrayLike,
    is_human: ArrayLike | None = None,
    *,
    scale_range: float = SCALE_RANGE,
) -> RevisionImpact:
    """Share changed; RMSE = √(Σ(revised − raw)²/changed) over the changed; RMSE / range; truth pull.

    The truth's pole is 5 for a human speaker B and 1 for a machine, so a move is (revised − raw) for a human
    and its negative for a machine; pull = share of changed scores that moved towards the pole. Without
    ``is_human`` (one entry per score) pull and move are ``None``. A score that is missing before or after
    (NaN) is left out: give the published coding to count moves between 3 and "no evidence" as none and other
    moves from it in full, the evidence coding to look at scores with evidence on both sides alone.

    No scores: share ``None``; nothing changed: share 0, the rest ``None``.
    """
    before, after = ratings(raw).ravel(), ratings(revised).ravel()
    if before.size != after.size:
        raise ValueError("one entry per score in every array")
    human = None if is_human is None else np.asarray(is_human, dtype=bool).ravel()
    if human is not None and human.size != before.size:
        raise ValueError("one entry per score in every array")
    if scale_range <= 0:
        raise ValueError("the scale's range is above 0")
    moves = after - before
    n = int((~np.isnan(moves)).sum())
    changed = ~np.isnan(moves) & (moves != 0)
    count = int(changed.sum())
    if count == 0:
        return RevisionImpact(n, 0, 0.0 if n else None, None, None, None, None)
    rmse = math.sqrt(square_sum(moves[changed]) / count)
    pull = move = None
    if human is not None:
        towards = np.where(human, moves, -moves)[changed]
        pull, move = float((towards > 0).mean()), float(towards.mean())
    return RevisionImpact(n, count, count / n, rmse, rmse / scale_range, pull, move)


def revision_impact_by(
    group: ArrayLike,
    raw: ArrayLike,
    revised: ArrayLike,
    is_human: ArrayLike | None = None,
    *,
    scale_range: float = SCALE_RANGE,
) -> dict[Any, RevisionImpact]:
    """:func:`revision_impact` of each group (dimension, system …), in the order of their labels."""
    labels: NDArray[Any] = np.asarray(group).ravel()
    before, after = ratings(raw).ravel(), ratings(revised).ravel()
    human = None if is_human is None else np.asarray(is_human, dtype=bool).ravel()
    if not labels.size == before.size == after.size or (human is not None and human.size != labels.size):
        raise ValueError("one entry per score in every array")
    found = {}
    for label in np.unique(labels):
        inside = labels == label
        found[label.item()] = revision_impact(
            before[inside],
            after[inside],
            None if human is None else human[inside],
            scale_range=scale_range,
        )
    return found

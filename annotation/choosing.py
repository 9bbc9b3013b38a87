"""Which dialogues make up a calibration, pure: a seeded sample, nudged until its clear scores are mixed."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import NamedTuple

STARTS = 4  # samples that are nudged; the best of them is taken


class Material(NamedTuple):
    """A dialogue with known scores: how many are clear (1–2, 4–5), how many of those contradict its truth."""

    dialogue: int
    clear: int
    against: int


def share_against(material: Collection[Material]) -> float | None:
    """Share of the clear scores that point against the truth; None where no score is clear."""
    clear = sum(one.clear for one in material)
    return sum(one.against for one in material) / clear if clear else None


def chosen(
    pool: Sequence[Material],
    n: int,
    *,
    target: float,
    rng: random.Random,
    taken: Sequence[Material] = (),
) -> list[Material]:
    """``n`` of ``pool``, in drawn order, so that with ``taken`` the share against the truth is near
    ``target``.

    Steepest descent over swaps of one dialogue from a few random samples: for ten of some hundred dialogues
    the share comes as near as whole scores allow. ValueError where the pool has fewer than ``n``.
    """
    if len(pool) < n:
        raise ValueError("not enough dialogues")
    best: list[Material] | None = None
    for _start in range(STARTS):
        sample = _nudged(rng.sample(list(pool), len(pool)), n, target, taken)
        if best is None or _gap(sample, target, taken) < _gap(best, target, taken):
            best = sample
    assert best is not None  # noqa: S101  (STARTS is positive)
    return best


def _nudged(order: list[Material], n: int, target: float, taken: Sequence[Material]) -> list[Material]:
    """The first ``n`` of ``order`` after swapping with the rest for as long as that helps."""
    while True:
        clear = sum(one.clear for one in (*order[:n], *taken))
        against = sum(one.against for one in (*order[:n], *taken))
        gap, swap = _off(against, clear, target), None
        for inside in range(n):
            for outside in range(n, len(order)):
                less, more = order[inside], order[outside]
                after = _off(against - less.against + more.against, clear - less.clear + more.clear, target)
                if after < gap - 1e-12:
                    gap, swap = after, (inside, outside)
        if swap is None:
            return order[:n]
        inside, outside = swap
        order[inside], order[outside] = order[outside], order[inside]


def _gap(sample: Sequence[Material], target: float, taken: Sequence[Material]) -> float:
    together = (*sample, *taken)
    return _off(sum(one.against for one in together), sum(one.clear for one in together), target)


def _off(against: int, clear: int, target: float) -> float:
    """How far a share is from the target; no clear score at all is as far as can be."""
    return abs(against / clear - target) if clear else 1.0

"""Balanced assignment, pure: seeded draws, a coin biased by deficit, levelling weights, leases. No rows
here.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TypeVar

K = TypeVar("K", int, str)  # keys have an order

GENTLENESS = 60.0  # deficit at which a share is doubled, were it not for MOST
MOST = 0.25  # a share never moves by more than this part of itself


def seeded(seed: int, *parts: object) -> random.Random:
    """The generator of one draw: the same seed and parts (who, which counter) give the same numbers."""
    text = ":".join(str(part) for part in (seed, *parts))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))


def tilted(
    shares: Mapping[K, float], counts: Mapping[K, int], *, gentleness: float = GENTLENESS, most: float = MOST
) -> dict[K, float]:
    """Probabilities near ``shares``, leaning to what is behind: a biased coin.

    share_k · (1 + clip(deficit_k / gentleness, ±most)), normalised; deficit_k = share_k · Σcounts − count_k.
    After a draw of k its probability falls by about share_k / gentleness, so the serial correlation of draws
    is about −share_k / (2 · gentleness), −.004 for a half: nobody can guess the next from the last. The
    counts stay within a few times √((1 − share_k) · gentleness / 2) of their shares however long the study
    runs.
    """
    total = sum(counts.get(key, 0) for key in shares)
    weights = {}
    for key, share in shares.items():
        lean = (share * total - counts.get(key, 0)) / gentleness
        weights[key] = share * (1 + max(-most, min(most, lean)))
    whole = sum(weights.values())
    return {key: weight / whole for key, weight in weights.items()}


def levelling(counts: Mapping[K, int], *, base: float = 0.5) -> dict[K, float]:
    """Weights base^(count − lowest count): what is one behind is twice as likely; nothing is impossible."""
    lowest = min(counts.values())
    return {key: max(base ** (count - lowest), 1e-12) for key, count in counts.items()}


def pick(rng: random.Random, weights: Mapping[K, float]) -> K:
    """One key, with probability in proportion to its weight; ValueError where there is none.

    Keys are gone through in their own order, not the mapping's: a record read back from a database repeats
    the draw.
    """
    at = rng.random() * sum(weights.values())
    key = None
    for key in sorted(weights):
        at -= weights[key]
        if at < 0:
            return key
    if key is None:
        raise ValueError("nothing to pick from")
    return key


def lease_end(now: datetime, minutes: int) -> datetime:
    """Until when an assignment counts as live; later it gives its place back to the balance."""
    return now + timedelta(minutes=minutes)

"""Which dialogue comes next, pure: what has the fewest raters, ties by chance; which of its places are free;
where known ones stand.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

WORK, GOLD, REPEAT = "work", "gold", "repeat"


class Choice(NamedTuple):
    dialogue: int
    record: dict[str, Any]


def least_rated(counts: Mapping[int, int], *, most: int, rng: random.Random) -> Choice | None:
    """One of the dialogues with the fewest raters, each of them as likely; None where all have ``most``.

    ``counts``: raters who have finished a dialogue or have it in hand, for every candidate.
    """
    open_ = {dialogue: n for dialogue, n in counts.items() if n < most}
    if not open_:
        return None
    fewest = min(open_.values())
    ties = sorted(dialogue for dialogue, n in open_.items() if n == fewest)
    chosen = rng.choice(ties)
    return Choice(chosen, {"candidates": len(open_), "fewest": fewest, "ties": len(ties), "chosen": chosen})


def free_places(taken: Collection[int], *, most: int, before: int = 0) -> list[int]:
    """Places ``before`` + 1 … ``before`` + ``most`` that are not ``taken``; none where as many raters as that
    hold others, which happens when k is lowered.
    """
    every = range(before + 1, before + most + 1)
    return [place for place in every if place not in taken][: max(most - len(taken), 0)]


def purposes(size: int, *, gold: float, repeat: float, rng: random.Random) -> list[str]:
    """What each place of a batch is for. Each is drawn alone, so nobody can count on one in a batch."""
    found = []
    for _ in range(size):
        at = rng.random()
        found.append(GOLD if at < gold else REPEAT if at < gold + repeat else WORK)
    return found

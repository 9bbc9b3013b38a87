"""What there is to hear in a dialogue, for raters that are simulated: the same for all of them. Invented."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import NamedTuple

#: How often a short dialogue shows anything of a dimension; the others nearly always do.
EVIDENCE = {
    "memory-consistency": 0.7,
    "code-switching": 0.3,
    "metaphor": 0.45,
    "auxiliary-vocalisations": 0.5,
    "accent": 0.8,
    "sycophancy": 0.7,
}
OFTEN = 0.93
MIDDLE, PULL, SPREAD, CARRIED = 3.1, 0.6, 1.0, 0.3


class Heard(NamedTuple):
    """One dimension of one dialogue: where it lies on 1 … 5 (unrounded), and how plain the evidence is."""

    level: float
    evidence: float


def hear(name: str, dimensions: Iterable[str], *, human: float) -> dict[str, Heard]:
    """What can be heard of ``dimensions`` in the dialogue that ``name`` stands for.

    ``human``: how human speaker B sounds, about −1 to 1. Part of what is heard runs through all dimensions,
    the rest is each one's own, so some clear scores point against the truth.
    """
    carried = random.Random(f"{name}/all").gauss(0, CARRIED)
    found = {}
    for key in dimensions:
        rng = random.Random(f"{name}/{key}")
        level = MIDDLE + PULL * human + carried + rng.gauss(0, SPREAD)
        plain = EVIDENCE.get(key, OFTEN)
        found[key] = Heard(min(max(level, 1.0), 5.0), min(max(rng.gauss(plain, 0.12), 0.02), 1.0))
    return found

"""Raters of different quality: how what is heard becomes a score, a choice and a pace."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from annotation.bots.hearing import Heard

NO_EVIDENCE = 0
QUALITIES = ("good", "average", "careless")
NOISE = {"good": 0.45, "average": 0.85}
LEANING = {"good": 0.15, "average": 0.35}
#: How often somebody careless says once more what they have just said.
STRAIGHT = 0.72


@dataclass
class Simulated:
    """One rater. ``leaning``: what they add to every score."""

    quality: str
    rng: random.Random
    leaning: float = 0.0

    @classmethod
    def drawn(cls, quality: str, seed: str) -> Simulated:
        rng = random.Random(seed)
        return cls(quality, rng, rng.gauss(0, LEANING.get(quality, 0.3)))

    def scores(self, heard: Mapping[str, Heard]) -> dict[str, int]:
        """A score for every dimension, 0 for no evidence, in the order of ``heard``."""
        return self._careless(heard) if self.quality == "careless" else self._careful(heard)

    def _careful(self, heard: Mapping[str, Heard]) -> dict[str, int]:
        noise = NOISE[self.quality]
        given = {}
        for key, (level, evidence) in heard.items():
            if self.rng.random() > evidence:
                given[key] = NO_EVIDENCE
            else:
                given[key] = _step(level + self.leaning + self.rng.gauss(0, noise))
        return given

    def _careless(self, heard: Mapping[str, Heard]) -> dict[str, int]:
        """Mostly the last score again; now and then anything."""
        given: dict[str, int] = {}
        last = self.rng.choice([3, 4, 4, 5])
        for key in heard:
            if self.rng.random() > STRAIGHT:
                last = self.rng.choice([2, 3, 3, 4, 4, 5])
            given[key] = last
        return given

    def choice(self, heard: Mapping[str, Heard], scores: Mapping[str, int]) -> tuple[str, int]:
        """Human or machine with confidence, by what was scored."""
        clear = [score for score in scores.values() if score != NO_EVIDENCE]
        lean = (fmean(clear) if clear else 3.0) - 3.1 + self.rng.gauss(0, 0.25)
        return ("human" if lean > 0 else "machine"), min(5, 2 + int(abs(lean) * 3))

    def seconds(self, length: float) -> float:
        """How long a dialogue of ``length`` seconds takes this rater, hearing it included."""
        if self.quality == "careless":
            return length + self.rng.uniform(18, 40)
        return length * self.rng.uniform(1.1, 1.9) + self.rng.uniform(70, 160)


def _step(value: float) -> int:
    return min(5, max(1, round(value)))

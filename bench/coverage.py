"""How often intervals hold the truth where persons and dialogues are both samples; how often joint tests err.

Simulated verdicts: a person's and a dialogue's leaning on the probit scale, with the correlations that
planning takes as given (.07 between two verdicts of a person, .10 on a dialogue). Seeded, so the same each
time. Bounds: in every design the two-way interval covers at least .93 and the plain one at most .88 (it
fails there); the joint test rejects at most .08.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from turingsite import stats
from turingsite.stats.planning import ICC_DIALOGUE, ICC_PERSON

RUNS, TEST_RUNS, SEED = 2_000, 1_000, 20260302
COVER, FAILS, SIZE = 0.93, 0.88, 0.08

Numbers = NDArray[np.intp]


class Design(NamedTuple):
    """So many people judge ``each`` of the dialogues; ``p`` is the true share."""

    people: int
    dialogues: int
    each: int
    p: float

    def heard(self, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Who hears which dialogue, one entry per verdict."""
        order = rng.random((self.people, self.dialogues)).argsort(axis=1)[:, : self.each]
        return np.repeat(np.arange(self.people), self.each), order.ravel()

    def answers(self, rng: np.random.Generator, person: Numbers, dialogue: Numbers) -> NDArray[np.float64]:
        of_person, of_dialogue = latent(ICC_PERSON), latent(ICC_DIALOGUE)
        leaning = (
            math.sqrt(of_person) * rng.standard_normal(self.people)[person]
            + math.sqrt(of_dialogue) * rng.standard_normal(self.dialogues)[dialogue]
            + math.sqrt(1 - of_person - of_dialogue) * rng.standard_normal(person.size)
        )
        return (leaning < special.ndtri(self.p)).astype(np.float64)


#: First those in which people weigh most, as in a panel, then those in which few dialogues do.
DESIGNS = (
    Design(40, 60, 15, 0.5),
    Design(40, 100, 20, 0.6),
    Design(30, 60, 12, 0.3),
    Design(60, 120, 10, 0.7),
    Design(100, 18, 2, 0.5),
    Design(60, 9, 9, 0.5),
    Design(200, 60, 5, 0.4),
    Design(300, 30, 2, 0.3),
)
#: People of a factor's levels in equal parts, no level different.
TESTS = ((Design(60, 24, 12, 0.6), 4), (Design(120, 60, 6, 0.7), 5), (Design(60, 18, 6, 0.5), 5))


def latent(icc: float) -> float:
    """Correlation of leanings that gives answers at .5 the correlation ``icc``."""
    return math.sin(math.pi / 2 * icc)


class Cover(NamedTuple):
    plain: float
    persons: float
    two_way: float


def cover(design: Design, rng: np.random.Generator) -> Cover:
    """Shares of runs in which each interval holds ``p``: Wilson as if verdicts were independent, with the
    variance of persons alone, and with both."""
    held = np.zeros(3)
    for _ in range(RUNS):
        person, dialogue = design.heard(rng)
        y = design.answers(rng, person, dialogue)
        both = stats.proportion(y, person, dialogue)
        bounds = ((both.low, both.high), persons_only(y, person), wilson(y))
        held += [low is not None and high is not None and low <= design.p <= high for low, high in bounds]
    two_way, persons, plain = (held / RUNS).tolist()
    return Cover(plain, persons, two_way)


def wilson(y: NDArray[np.float64]) -> tuple[float | None, float | None]:
    found = stats.wilson(float(y.sum()), y.size)
    return found.low, found.high


def persons_only(y: NDArray[np.float64], person: Numbers) -> tuple[float | None, float | None]:
    found = stats.oneway(y, person)
    if not found.se or found.value is None:
        return wilson(y)
    n_eff = found.value * (1 - found.value) / found.se**2
    return stats.wilson_bounds(found.value, n_eff, stats.critical(0.95, found.clusters - 1))


def size(design: Design, levels: int, rng: np.random.Generator) -> float:
    """Share of runs in which the joint test finds a difference at .05 where there is none."""
    level = np.arange(design.people) % levels
    found = 0
    for _ in range(TEST_RUNS):
        person, dialogue = design.heard(rng)
        y = design.answers(rng, person, dialogue)
        p = stats.joint_wald(y, level[person], person, dialogue, adjust=(dialogue % 2,)).p
        found += p is not None and p < 0.05
    return found / TEST_RUNS


def main() -> int:
    rng = np.random.default_rng(SEED)
    within = True
    print(f"Cover of 95 % intervals, {RUNS:,} runs of each design (two-way ≥ {COVER}, plain ≤ {FAILS})")
    print("people  dialogues  verdicts each  true share   plain Wilson  persons only  two-way")
    for design in DESIGNS:
        got = cover(design, rng)
        within &= got.two_way >= COVER and got.plain <= FAILS
        print(
            f"{design.people:6}  {design.dialogues:9}  {design.each:13}  {design.p:10.2f}"
            f"   {got.plain:12.3f}  {got.persons:12.3f}  {got.two_way:7.3f}"
        )
    print(f"Joint test without effect, {TEST_RUNS:,} runs (rejects ≤ {SIZE} at .05)")
    for design, levels in TESTS:
        rejected = size(design, levels, rng)
        within &= rejected <= SIZE
        print(
            f"{design.people:6}  {design.dialogues:9}  {design.each:13}  {levels:3} levels   {rejected:12.3f}"
        )
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())

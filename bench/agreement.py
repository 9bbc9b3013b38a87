"""Bootstrap of agreement: its time beside a plain mean's, and how often its intervals hold the truth.

Time: 1,500 dialogues × 3 raters × 18 dimensions, 2,000 draws.
The anchor is as many draws of a plain mean by index matrix for the same 18 dimensions: indices drawn once,
``rng.integers(0, n, (B, n))``, then ``x[indices].mean(axis=1)`` with x one dimension's mean score of each
dialogue, contiguous, eighteen times. Ours gives ordinal alpha and percent agreement of each dimension with
intervals. Target: a ratio of at most 3, in processor time of all threads; the ratio to the mean of a single
dimension is shown, not judged.

Cover: ordinal alpha of so many dialogues × 3 raters (seeded), the truth being alpha of 200,000 dialogues.
Bound: at least .92 from 40 dialogues on; fewer are shown. Run: ``python -m bench.agreement``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.twoway import best
from turingsite import stats

DIALOGUES, RATERS, DIMENSIONS, DRAWS, TARGET = 1_500, 3, 18, 2_000, 3.0
SIZES, RUNS, SEED, COVER, ENOUGH = (10, 20, 40, 100, 300), 1_000, 20260302, 0.92, 40
#: Share of scores without evidence, and how far the middle of all scores is from 3.
KINDS = ((0.0, 0.0), (0.3, 1.5))


def scores(
    rng: np.random.Generator, dialogues: int, dimensions: int, missing: float, shift: float = 0.0
) -> NDArray[np.float64]:
    """Scores 1–5 that agree in part, some without evidence."""
    heard = 1.1 * rng.normal(0, 1, (dialogues, 1, dimensions))
    noise = 0.9 * rng.normal(0, 1, (dialogues, RATERS, dimensions))
    given = np.clip(np.rint(3 + shift + heard + noise), 1, 5)
    given[rng.random(given.shape) < missing] = np.nan
    return given


def time_ratio() -> float:
    given = scores(np.random.default_rng(1), DIALOGUES, DIMENSIONS, 0.1)
    means_given = np.where(np.isnan(given), 3.0, given).mean(axis=1)
    columns = [np.ascontiguousarray(column) for column in means_given.T]

    def means(some: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        indices = np.random.default_rng(2).integers(0, DIALOGUES, (DRAWS, DIALOGUES))
        return [x[indices].mean(axis=1) for x in some]

    plain, single, ours = best(
        lambda: means(columns),
        lambda: means(columns[:1]),
        lambda: stats.alpha_intervals(given, draws=DRAWS),
        times=7,
    )
    print(f"{DRAWS:,} draws of {DIALOGUES:,} dialogues")
    print(f"anchor: plain mean, {DIMENSIONS} dimensions  {plain * 1e3:7.1f} ms")
    print(f"alpha, {DIMENSIONS} dimensions × {RATERS} raters  {ours * 1e3:7.1f} ms", end="  ")
    print(f"ratio {ours / plain:.2f} (at most {TARGET})")
    print(f"plain mean, one dimension        {single * 1e3:7.1f} ms  ratio {ours / single:.2f} (not judged)")
    return ours / plain


def cover(dialogues: int, missing: float, shift: float) -> float:
    """Share of runs whose interval at 95 % holds alpha; a run without an interval does not."""
    rng = np.random.default_rng(SEED)
    truth = stats.krippendorff_alpha(scores(rng, 200_000, 1, missing, shift)[:, :, 0]).value or 0.0
    held = 0
    for _ in range(RUNS):
        found = stats.alpha_interval(scores(rng, dialogues, 1, missing, shift)[:, :, 0], draws=500).alpha
        held += stats.standing(found, truth) == "undecided"
    return held / RUNS


def main() -> int:
    within = time_ratio() <= TARGET
    print(f"Cover of 95 % intervals, {RUNS:,} runs (at least {COVER} from {ENOUGH} dialogues on)")
    print("dialogues  all evidence  .3 without, middle 4.5")
    for dialogues in SIZES:
        full, gappy = (cover(dialogues, *kind) for kind in KINDS)
        within &= dialogues < ENOUGH or min(full, gappy) >= COVER
        print(f"{dialogues:9}  {full:12.3f}  {gappy:22.3f}")
    return 0 if within else 1


if __name__ == "__main__":
    raise SystemExit(main())

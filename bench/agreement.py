"""Bootstrap of agreement over 1,500 dialogues × 3 raters × 18 dimensions, beside one of a plain mean.

The anchor is as many draws of a plain mean by index matrix for the same 18 dimensions: indices drawn once,
``rng.integers(0, n, (B, n))``, then ``x[indices].mean(axis=1)`` with x one dimension's mean score of each
dialogue, contiguous, eighteen times. Ours gives ordinal alpha and percent agreement of each dimension with
intervals. Target: a ratio of at most 3, in processor time of all threads; the ratio to the mean of a single
dimension is shown, not judged. Run: ``python -m bench.agreement``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.twoway import best
from turingsite import stats

DIALOGUES, RATERS, DIMENSIONS, DRAWS, TARGET = 1_500, 3, 18, 2_000, 3.0


def scores(rng: np.random.Generator) -> NDArray[np.float64]:
    """Scores 1–5 that agree in part, one in ten without evidence."""
    heard = rng.normal(0, 1, (DIALOGUES, 1, DIMENSIONS))
    noise = rng.normal(0, 1, (DIALOGUES, RATERS, DIMENSIONS))
    given = np.clip(np.rint(3 + heard + noise), 1, 5)
    given[:, 1:][rng.random(given[:, 1:].shape) < 0.1] = np.nan
    return given


def main() -> int:
    rng = np.random.default_rng(1)
    given = scores(rng)
    columns = [np.ascontiguousarray(column) for column in np.nanmean(given, axis=1).T]

    def means(some: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        indices = np.random.default_rng(2).integers(0, DIALOGUES, (DRAWS, DIALOGUES))
        return [x[indices].mean(axis=1) for x in some]

    plain, single, ours = best(
        lambda: means(columns),
        lambda: means(columns[:1]),
        lambda: stats.alpha_intervals(given, draws=DRAWS),
        times=7,
    )
    what = f"{DRAWS:,} draws of {DIALOGUES:,} dialogues"
    print(f"anchor: plain mean of {DIMENSIONS} dimensions, {what}  {plain * 1e3:7.1f} ms")
    print(f"alpha of {DIMENSIONS} dimensions × {RATERS} raters, {what} {ours * 1e3:7.1f} ms", end="  ")
    print(f"ratio {ours / plain:.2f} (at most {TARGET})")
    print(f"plain mean of one dimension, {what}     {single * 1e3:7.1f} ms  ratio {ours / single:.2f}")
    return 0 if ours / plain <= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(main())

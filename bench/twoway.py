"""Two-way variance over a million verdicts, beside one pass over the same arrays with numpy alone.

The anchor is what any cluster-aware figure needs at least once: Σu per participant and its square sum.
Target: a ratio of at most 5. Run: ``python bench/twoway.py``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from turingsite import stats

VERDICTS, PEOPLE, DIALOGUES, TARGET = 1_000_000, 40_000, 1_500, 5.0


def best(*runs: Callable[[], object], times: int = 15) -> list[float]:
    """Shortest time of each, taken in turn so that whatever disturbs the machine disturbs all of them."""
    shortest = [float("inf")] * len(runs)
    for _ in range(times):
        for at, run in enumerate(runs):
            start = time.process_time()
            run()
            shortest[at] = min(shortest[at], time.process_time() - start)
    return shortest


def main() -> int:
    rng = np.random.default_rng(1)
    participant = rng.integers(0, PEOPLE, VERDICTS)
    item = rng.integers(0, DIALOGUES, VERDICTS)
    y = (rng.random(VERDICTS) < 0.4).astype(np.float64)
    u = (y - y.mean()) / VERDICTS

    def anchor() -> float:
        sums = np.bincount(participant, weights=u)
        return float(np.einsum("i,i->", sums, sums))

    one, two, whole = best(
        anchor,
        lambda: stats.twoway(u, participant, item),
        lambda: stats.proportion(y, participant, item),
    )
    print(f"anchor: one numpy pass            {one * 1e3:7.2f} ms")
    print(f"twoway over {VERDICTS:,} verdicts  {two * 1e3:7.2f} ms  ratio {two / one:.2f} (at most {TARGET})")
    print(f"proportion with its interval      {whole * 1e3:7.2f} ms  ratio {whole / one:.2f}")
    return 0 if two / one <= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""A waveform small enough for a page on the desk. Never for participants: digital silence shows in it."""

from __future__ import annotations

import numpy as np

from turingsite.audio.samples import Samples


def peaks(samples: Samples, count: int = 600) -> list[int]:
    """The largest magnitude in each of ``count`` equal stretches, 0 to 100 of the largest of all."""
    if not len(samples):
        return []
    count = min(count, len(samples))
    magnitude = np.abs(samples)
    starts = (np.arange(count) * len(samples)) // count
    tops = np.maximum.reduceat(magnitude, starts)
    most = float(tops.max())
    return [0] * count if most <= 0 else [int(v) for v in np.round(tops * (100 / most))]

"""Describe a processed recording: everything that is not the talk and might give its kind away.

Plain numbers ready for JSON; None where there is too little to measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from turingsite.audio.activity import HOP, QUIETEST, Levels, frame_levels, speech_spans
from turingsite.audio.samples import RATE, Samples
from turingsite.audio.turns import Gap, Turn, frames_of, gaps, overlaps, seconds, spans_of, speakers

FEWEST_FRAMES = 5


def describe(samples: Samples, turns: Sequence[Turn]) -> dict[str, Any]:
    """Numbers of mono ``samples`` with tidy ``turns``; see :func:`noise_floors`, :func:`rolloff`."""
    levels = frame_levels(samples)
    heard = speech_spans(samples, levels)
    return {
        "duration": round(len(samples) / RATE, 3),
        "turn_count": len(turns),
        "speech_seconds": round(seconds(heard), 3),
        "leading_silence": round(heard[0][0], 3) if heard else None,
        "trailing_silence": round(len(samples) / RATE - heard[-1][1], 3) if heard else None,
        "speech_share": shares(turns),
        "utterance_share": utterance_shares(turns),
        "overlaps": overlap_numbers(turns),
        "noise_floor": noise_floors(levels, turns),
        "bandwidth_hz": rolloff(samples),
    }


def shares(turns: Sequence[Turn]) -> dict[str, float]:
    """Each speaker's part of all talking time."""
    times = {s: seconds(spans_of(turns, s)) for s in speakers(turns)}
    total = sum(times.values())
    return {s: round(time / total, 4) for s, time in times.items()} if total else {}


def utterance_shares(turns: Sequence[Turn]) -> dict[str, float]:
    """Each speaker's part of the turns."""
    count = len(turns)
    return {s: round(sum(t.speaker == s for t in turns) / count, 4) for s in speakers(turns)}


def overlap_numbers(turns: Sequence[Turn]) -> dict[str, Any]:
    """How often and how long two talk at once."""
    found = overlaps(turns)
    return {
        "count": len(found),
        "seconds": round(seconds(found), 3),
        "longest": round(max((end - start for start, end in found), default=0.0), 3),
        "at": [round(start, 3) for start, _ in found],
    }


def gap_numbers(found: Sequence[Gap]) -> dict[str, Any]:
    """Mean, median and extremes of the gaps (overlaps, below zero, count apart), and each of them."""
    lengths = [g.length for g in found if g.length >= 0]
    return {
        "count": len(lengths),
        "mean": round(float(np.mean(lengths)), 4) if lengths else None,
        "median": round(float(np.median(lengths)), 4) if lengths else None,
        "longest": round(max(lengths), 4) if lengths else None,
        "each": [round(g.length, 4) for g in found],
    }


def noise_floors(levels: Levels, turns: Sequence[Turn]) -> dict[str, float | None]:
    """Level (dBFS, 5th percentile of 10 ms frames) in each speaker's turns and, as ``pauses``, between them.

    Within a turn it is what is left in that speaker's own short pauses.
    """
    result: dict[str, float | None] = {}
    talking = np.zeros(len(levels), dtype=bool)
    for speaker in speakers(turns):
        own = frames_of(spans_of(turns, speaker), len(levels), HOP)
        talking |= own
        result[speaker] = _low(levels[own])
    result["pauses"] = _low(levels[~talking], 50)
    return result


def _low(levels: Levels, percentile: float = 5) -> float | None:
    if len(levels) < FEWEST_FRAMES:
        return None
    return round(max(QUIETEST, float(np.percentile(levels, percentile))), 2)


def rolloff(samples: Samples, share: float = 0.99) -> float | None:
    """Effective bandwidth: the frequency in Hz below which ``share`` of all energy lies."""
    frame = 1024
    count = len(samples) // frame
    if not count or not np.any(samples):
        return None
    blocks = samples[: count * frame].reshape(count, frame) * np.hanning(frame).astype(np.float32)
    power = (np.abs(np.fft.rfft(blocks, axis=1)) ** 2).sum(axis=0)
    reached = int(np.searchsorted(np.cumsum(power), share * power.sum()))
    return round(reached * RATE / frame, 1)


def mean_gap(turns: Sequence[Turn]) -> float | None:
    """Mean of the gaps that are no overlaps, in seconds."""
    mean: float | None = gap_numbers(gaps(turns))["mean"]
    return mean

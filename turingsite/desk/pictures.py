"""Pictures as numbers for a template: a dialogue's waveform with its turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialogues.models import Dialogue

WIDTH, HALF = 1200, 60  # units of the waveform's view box


def outline(peaks: Sequence[float]) -> str:
    """The points of a polygon around peaks of 0 to 100, in the waveform's view box."""
    step = WIDTH / len(peaks)
    heights = [max(0.5, min(100, float(peak)) / 100 * HALF) for peak in peaks]
    above = [f"{(i + 0.5) * step:.1f},{HALF - h:.1f}" for i, h in enumerate(heights)]
    below = [f"{(i + 0.5) * step:.1f},{HALF + h:.1f}" for i, h in enumerate(heights)]
    return " ".join(above + below[::-1])


def waveform(dialogue: Dialogue, turns: list[Any]) -> dict[str, Any] | None:
    """The playing file's loudness as one outline, and a block for each turn below it."""
    length = dialogue.play_duration or 0
    if not dialogue.peaks or length <= 0:
        return None
    blocks = [
        {
            "x": f"{100 * turn.play_start / length:.2f}%",
            "width": f"{max(0.2, 100 * (turn.play_end - turn.play_start) / length):.2f}%",
            "lane": "a" if turn.party.label == "A" else "b",
            "at": turn.play_start,
        }
        for turn in turns
        if turn.play_start is not None and turn.play_end is not None
    ]
    ticks = [
        {"x": f"{100 * s / length:.2f}%", "label": f"{s}"}
        for s in range(0, int(length) + 1, 5 if length < 90 else 30)
    ]
    return {
        "points": outline(dialogue.peaks),
        "width": WIDTH,
        "height": 2 * HALF,
        "blocks": blocks,
        "ticks": ticks,
    }

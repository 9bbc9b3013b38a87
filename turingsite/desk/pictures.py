"""Pictures as numbers for a template: a dialogue's waveform with its turns, intervals by row."""

from __future__ import annotations

from typing import Any

from dialogues.models import Dialogue
from studies.reports import ReportTable

WIDTH, HALF = 1200, 60  # units of the waveform's view box
AXIS = (("0%", "0"), ("25%", ".25"), ("50%", ".5"), ("75%", ".75"), ("100%", "1"))
ROW = 44  # px between rows of a chart


def waveform(dialogue: Dialogue, turns: list[Any]) -> dict[str, Any] | None:
    """The playing file's loudness as one outline, and a block for each turn below it."""
    length = dialogue.play_duration or 0
    if not dialogue.peaks or length <= 0:
        return None
    step = WIDTH / len(dialogue.peaks)
    heights = [max(0.5, min(100, float(peak)) / 100 * HALF) for peak in dialogue.peaks]
    above = [f"{(i + 0.5) * step:.1f},{HALF - h:.1f}" for i, h in enumerate(heights)]
    below = [f"{(i + 0.5) * step:.1f},{HALF + h:.1f}" for i, h in enumerate(heights)]
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
        "points": " ".join(above + below[::-1]),
        "width": WIDTH,
        "height": 2 * HALF,
        "blocks": blocks,
        "ticks": ticks,
    }


def interval_chart(table: ReportTable) -> dict[str, Any] | None:
    """Point and interval of each pooled row of the success table, on 0 to 1; None for other tables."""
    if table.key != "success":
        return None
    rows = [row for row in table.rows if row.get("low") is not None and row.get("high") is not None]
    scopes = {row.get("language") for row in rows}
    scope = "" if "" in scopes else "all" if "all" in scopes else next(iter(sorted(map(str, scopes))), None)
    shown = [row for row in rows if str(row.get("language")) == scope]
    if not shown:
        return None
    bars = [
        {
            "name": row.get("name") or row.get("speaker_name") or row.get("speaker"),
            "n": row["n"],
            "human": row.get("role") == "human" or row.get("speaker") == "human",
            "value": f"{100 * row['share']:.1f}%",
            "low": f"{100 * max(0.0, row['low']):.1f}%",
            "high": f"{100 * min(1.0, row['high']):.1f}%",
            "words": f"{row['share']:.2f} [{row['low']:.2f}, {row['high']:.2f}]",
            "words_y": index * ROW + 16,
            "y": index * ROW + 30,
        }
        for index, row in enumerate(shown)
    ]
    return {
        "bars": bars,
        "height": len(bars) * ROW + 32,
        "floor": len(bars) * ROW + 8,
        "axis": len(bars) * ROW + 28,
    }

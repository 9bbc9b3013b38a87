"""When what is heard in a playing file: of the dialogue's file, or of the older one somebody was given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from dialogues.models import Dialogue, Exposure, Turn


class Stretch(NamedTuple):
    """A turn in a playing file: who speaks, from when, in seconds, until the next begins."""

    label: str
    start: float


def keep(dialogue: Dialogue) -> None:
    """Before file or turns change: whoever was given the dialogue goes on with both as they are.

    Somebody may be in the middle of it: parts of two files do not go together.
    """
    if dialogue.play_path:
        line = {"length": dialogue.play_duration or 0.0, "turns": [list(one) for one in _present(dialogue)]}
        Exposure.objects.filter(dialogue=dialogue, play_path="").update(
            play_path=dialogue.play_path, time_line=line
        )


class Mapping(NamedTuple):
    """From seconds of the original to seconds of the playing file, by the edges of the turns they share."""

    original: list[float]
    playing: list[float]

    def __call__(self, second: float) -> float | None:
        """None where nothing is known. Before the first edge and after the last the distance is kept."""
        if not self.original:
            return None
        if second <= self.original[0]:
            return max(0.0, self.playing[0] - (self.original[0] - second))
        if second >= self.original[-1]:
            return self.playing[-1] + (second - self.original[-1])
        return float(np.interp(second, self.original, self.playing))


def mapping(rows: Iterable[Turn]) -> Mapping:
    """How the turns ``rows`` of a processed dialogue lie in its playing file."""
    edges = {
        at: there
        for row in rows
        for at, there in ((row.start, row.play_start), (row.end, row.play_end))
        if at is not None and there is not None
    }
    places = sorted(edges)
    # Edges that processing drew in may cross by a hair: the playing file never runs backwards.
    return Mapping(places, [float(v) for v in np.maximum.accumulate([edges[at] for at in places])])


def length(exposure: Exposure, dialogue: Dialogue) -> float:
    """Seconds of the file that this exposure plays; 0 where nothing plays."""
    kept = exposure.time_line
    return float(kept["length"] if kept else dialogue.play_duration or 0.0)


def turns(exposure: Exposure, dialogue: Dialogue) -> list[Stretch]:
    """The turns in the file that this exposure plays, in order."""
    kept = exposure.time_line
    return [Stretch(*one) for one in kept["turns"]] if kept else _present(dialogue)


def flat(heard: Iterable[Stretch], length: float) -> list[dict[str, Any]]:
    """Turns of A and B as players get them; each lasts until the next begins, so that gaps are heard, not
    seen.
    """
    starts = [
        (max(turn.start, 0.0), "A" if turn.label == "A" else "B") for turn in heard if turn.start < length
    ]
    starts.sort(key=lambda pair: pair[0])
    if not starts:
        return []
    starts[0] = (0.0, starts[0][1])
    ends = [start for start, _who in starts[1:]] + [length]
    return [
        {"who": who, "start": round(start, 2), "end": round(end, 2)}
        for (start, who), end in zip(starts, ends, strict=True)
    ]


def _present(dialogue: Dialogue) -> list[Stretch]:
    rows = [
        (turn.party.label, turn.play_start if turn.play_start is not None else turn.start)
        for turn in dialogue.turns.select_related("party")
    ]
    return [Stretch(label, start) for label, start in rows if start is not None]

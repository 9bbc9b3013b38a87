"""Who speaks when: turns, gaps and overlaps between them, each speaker's own stretches; in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from turingsite.audio.samples import Samples

Span = tuple[float, float]


class Turn(NamedTuple):
    """A stretch of talk. ``key`` is the caller's number for it and is carried through every step."""

    speaker: str
    start: float
    end: float
    key: int = -1


class Gap(NamedTuple):
    """Silence before a turn; below zero where it begins before the talk so far has ended."""

    at: float
    length: float
    before: str  # who spoke last
    after: str  # who speaks next


def tidy(turns: Iterable[Turn], duration: float) -> list[Turn]:
    """In order of start, cut to ``0..duration``; turns of which nothing is left are dropped."""
    cut = (t._replace(start=max(0.0, t.start), end=min(duration, t.end)) for t in turns)
    return sorted((t for t in cut if t.end > t.start), key=lambda t: (t.start, t.end))


def gaps(turns: Sequence[Turn]) -> list[Gap]:
    """One gap for each turn but the first, measured from the end of all talk so far. Wants tidy turns."""
    found: list[Gap] = []
    last: Turn | None = None
    for turn in turns:
        if last is not None:
            found.append(Gap(last.end, turn.start - last.end, last.speaker, turn.speaker))
        if last is None or turn.end >= last.end:
            last = turn
    return found


def speakers(turns: Iterable[Turn]) -> list[str]:
    """Labels in alphabetical order."""
    return sorted({t.speaker for t in turns})


def spans_of(turns: Iterable[Turn], speaker: str) -> list[Span]:
    """A speaker's stretches, joined where they touch or overlap."""
    joined: list[Span] = []
    for start, end in sorted((t.start, t.end) for t in turns if t.speaker == speaker):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def overlaps(turns: Sequence[Turn]) -> list[Span]:
    """Stretches in which two speakers or more talk at once."""
    edges: list[tuple[float, int]] = []
    for speaker in speakers(turns):
        for start, end in spans_of(turns, speaker):
            edges += [(start, 1), (end, -1)]
    found: list[Span] = []
    talking, since = 0, 0.0
    for at, change in sorted(edges):
        if talking < 2 <= talking + change:
            since = at
        if talking >= 2 > talking + change and at > since:
            found.append((since, at))
        talking += change
    return found


def alone(turns: Sequence[Turn], speaker: str) -> list[Span]:
    """A speaker's stretches without those in which somebody else talks too."""
    result: list[Span] = []
    others = overlaps(turns)
    for start, end in spans_of(turns, speaker):
        for other_start, other_end in others:
            if other_end <= start or other_start >= end:
                continue
            if other_start > start:
                result.append((start, other_start))
            start = max(start, other_end)
        if end > start:
            result.append((start, end))
    return result


def seconds(spans: Iterable[Span]) -> float:
    return float(sum(end - start for start, end in spans))


def cut_out(samples: Samples, spans: Iterable[Span], rate: int) -> Samples:
    """The samples of all ``spans``, one after the other."""
    parts = [samples[round(start * rate) : round(end * rate)] for start, end in spans]
    return np.concatenate(parts) if parts else samples[:0]


def frames_of(spans: Iterable[Span], count: int, hop: float) -> NDArray[np.bool_]:
    """Which of ``count`` frames, each ``hop`` seconds long, have their middle inside a span."""
    mask = np.zeros(count, dtype=bool)
    for start, end in spans:
        mask[max(0, round(start / hop)) : max(0, round(end / hop))] = True
    return mask

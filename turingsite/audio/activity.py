"""Find speech by energy, and turns from it: by channel, by rough hints, or (roughly) by the voices.

``find_turns(samples, *, hints) -> Found`` for samples of shape (n, c) at 24 kHz.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from turingsite.audio.samples import RATE, Samples
from turingsite.audio.turns import Span, Turn, frames_of, spans_of, speakers

Levels = NDArray[np.float64]

LAYOUTS = {"ab": ("A", "B"), "ba": ("B", "A")}
HOP = 0.01
QUIETEST = -100.0  # dBFS given to digital silence
AUDIBLE = -80.0  # dBFS: a recording that never gets louder than this holds nothing
DEPTH = 70.0  # dB under loud talk; what lies below is the coding's, not the speaker's
CONTRAST = 10.0  # dB between floor and loud frames; talk has 20 and more, hum and hiss have none
SHORTEST = 0.06  # seconds: less is a click
JOIN = 0.25  # seconds: shorter breaks lie within words and phrases
PAUSE = 0.5  # seconds a speaker may pause within a turn, whatever the other does
LONG_PAUSE = 1.0  # seconds, while the other is silent
SEPARATION = 12.0  # dB between channels, where each has its own speaker
SLACK = 0.05  # seconds of quiet kept around speech where a turn's edges are drawn in
BLEED = 15.0  # dB under the other channel: that is the other voice, leaking


class Found(NamedTuple):
    """Turns and how they were found: ``channels``, ``hints``, ``voices`` or ``nothing``."""

    turns: list[Turn]
    method: str


def frame_levels(samples: Samples) -> Levels:
    """Level in dBFS of each 10 ms of mono samples, rumble below 80 Hz left out, over 20 ms windows."""
    from scipy import signal

    hop = round(HOP * RATE)
    count = -(-len(samples) // hop)
    if not count:
        return np.zeros(0)
    padded = np.zeros(count * hop, dtype=np.float32)
    padded[: len(samples)] = samples
    filtered = signal.sosfilt(_high_pass(), padded).reshape(count, hop)
    power = np.einsum("ij,ij->i", filtered, filtered).astype(np.float64) / hop
    if count > 1:
        power[:-1] = (power[:-1] + power[1:]) / 2
    return np.asarray(np.maximum(10 * np.log10(np.maximum(power, 1e-12)), QUIETEST), dtype=np.float64)


@functools.cache
def _high_pass() -> NDArray[np.float32]:
    """Second-order sections of the filter that leaves out rumble."""
    from scipy import signal  # here: only sound needs it, and it costs every process a third of its start

    sections: NDArray[np.float32] = signal.butter(2, 80, "highpass", fs=RATE, output="sos").astype(np.float32)
    return sections


class Threshold(NamedTuple):
    """Levels in dBFS: a stretch above ``low`` is speech if it rises above ``high`` (soft edges belong)."""

    low: float
    high: float


def threshold(levels: Levels) -> Threshold | None:
    """From which levels frames count as speech; None where nothing stands out from the floor."""
    if not len(levels):
        return None
    floor, loud, loudest = (float(v) for v in np.percentile(levels, (10, 95, 99.5)))
    if loud - floor < CONTRAST:  # mostly silent: talk may fill less than a twentieth of it
        loud = loudest
    if loud < AUDIBLE or loud - floor < CONTRAST:
        return None
    floor = max(floor, loud - DEPTH)
    room = loud - floor
    return Threshold(floor + max(4.0, 0.12 * room), floor + max(6.0, 0.2 * room))


def speech_spans(samples: Samples, levels: Levels | None = None) -> list[Span]:
    """Stretches of speech in mono samples (``levels``: their ``frame_levels``, where they are known)."""
    levels = frame_levels(samples) if levels is None else levels
    level = threshold(levels)
    return [] if level is None else _spans(_speaking(levels, level), len(samples) / RATE)


def _speaking(levels: Levels, level: Threshold) -> NDArray[np.bool_]:
    """Frames in runs above ``level.low`` that rise above ``level.high``."""
    mask = levels > level.low
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    for start, end in edges.reshape(-1, 2):
        if levels[start:end].max() <= level.high:
            mask[start:end] = False
    return mask


def _spans(mask: NDArray[np.bool_], duration: float) -> list[Span]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    runs = [(a * HOP, min(b * HOP, duration)) for a, b in edges.reshape(-1, 2).tolist()]
    joined: list[Span] = []
    for start, end in runs:
        if joined and start - joined[-1][1] < JOIN:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [(start, end) for start, end in joined if end - start >= SHORTEST]


def channels_are_apart(samples: Samples) -> bool:
    """Whether two channels hold a speaker each: where one speaks, the other is much quieter."""
    if samples.shape[1] != 2:
        return False
    left, right = (frame_levels(samples[:, c]) for c in (0, 1))
    loud = np.maximum(left, right)
    level = threshold(loud)
    if level is None:
        return False
    difference = (left - right)[loud > level.high]
    both_speak = min((difference > 0).mean(), (difference < 0).mean()) > 0.02
    return bool(both_speak and np.median(np.abs(difference)) > SEPARATION)


def find_turns(samples: Samples, *, hints: Sequence[Turn] = (), layout: str = "") -> Found:
    """Turns of speakers A and B. In a mixed recording whoever speaks first is A; in two channels ``layout``
    says who is where (A left if it does not), and ``mixed`` keeps two channels from being looked at apart.

    ``hints`` are rough turns from elsewhere (diarisation): their speakers are kept, their edges moved to
    where speech starts and ends. Without hints, voices in one channel are told apart by pitch and colour:
    rough, to be looked over by whoever imports.
    """
    two = samples.shape[1] == 2 and layout in LAYOUTS
    if not hints and (two or (layout != "mixed" and channels_are_apart(samples))):
        return Found(_by_channel(samples, LAYOUTS[layout or "ab"]), "channels")
    mono = samples.mean(axis=1, dtype=np.float32)
    spans = speech_spans(mono)
    if not spans:
        return Found([], "nothing")
    if hints:
        return Found(_by_hints(spans, hints), "hints")
    from turingsite.audio.voices import tell_apart  # the slow part, needed here alone

    return Found(_join(tell_apart(mono, spans, ("A", "B"))), "voices")


def _by_channel(samples: Samples, names: tuple[str, str]) -> list[Turn]:
    levels = [frame_levels(samples[:, c]) for c in (0, 1)]
    spans: list[list[Span]] = []
    for own, other in ((0, 1), (1, 0)):
        level = threshold(levels[own])
        if level is None:
            spans.append([])
            continue
        mask = _speaking(levels[own], level) & (levels[own] > levels[other] - BLEED)
        spans.append(_spans(mask, len(samples) / RATE))
    turns: list[Turn] = []
    for name, own_spans, other_spans in zip(names, spans, reversed(spans), strict=True):
        current: Span | None = None
        for span in own_spans:
            if current is not None and _same_turn(current[1], span[0], other_spans):
                current = (current[0], span[1])
                continue
            if current is not None:
                turns.append(Turn(name, *current))
            current = span
        if current is not None:
            turns.append(Turn(name, *current))
    return sorted(turns, key=lambda t: t.start)


def _same_turn(end: float, start: float, others: Sequence[Span]) -> bool:
    if start - end < PAUSE:
        return True
    between = any(other_start < start and other_end > end for other_start, other_end in others)
    return start - end < LONG_PAUSE and not between


def _by_hints(spans: Sequence[Span], hints: Sequence[Turn]) -> list[Turn]:
    slack = 0.2
    turns: list[Turn] = []
    for hint in sorted(hints, key=lambda t: t.start):
        inside = [(s, e) for s, e in spans if s < hint.end and e > hint.start]
        if not inside:
            continue
        start, end = max(inside[0][0], hint.start - slack), min(inside[-1][1], hint.end + slack)
        if turns and start < turns[-1].end and hint.start >= turns[-1].end - slack:
            start = turns[-1].end  # the slack is no overlap
        if end > start:
            turns.append(hint._replace(start=start, end=end))
    return turns


def tightened(samples: Samples, turns: Sequence[Turn], *, channels: Mapping[str, int] | None) -> list[Turn]:
    """``turns`` with their edges drawn in to the speech inside them, in order of start.

    What counts as speech is measured for each speaker apart, over their own turns and the pauses, so that a
    faint speaker is not taken for silence. A turn in which nothing is heard stays as it is.
    """
    mono = samples.mean(axis=1, dtype=np.float32) if channels is None else None
    shared = None if mono is None else frame_levels(mono)
    duration = len(samples) / RATE
    result: list[Turn] = []
    for speaker in speakers(turns):
        levels = frame_levels(samples[:, channels[speaker]]) if channels else shared
        if levels is None:
            continue
        own = frames_of(spans_of(turns, speaker), len(levels), HOP)
        others = frames_of([t[1:3] for t in turns if t.speaker != speaker], len(levels), HOP)
        level = threshold(levels[own | ~others])
        for turn in (t for t in turns if t.speaker == speaker):
            first = round(turn.start / HOP)
            inside = levels[first : round(turn.end / HOP)]
            # a click, or the last of the speaker before, is shorter than speech
            heard = [] if level is None else _spans(_speaking(inside, level), len(inside) * HOP)
            if heard:
                start = max(turn.start, first * HOP + heard[0][0] - SLACK)
                end = min(turn.end, first * HOP + heard[-1][1] + SLACK, duration)
                turn = turn._replace(start=start, end=end) if end > start else turn
            result.append(turn)
    return sorted(result, key=lambda t: (t.start, t.end))


def _join(turns: Sequence[Turn]) -> list[Turn]:
    joined: list[Turn] = []
    for turn in turns:
        last = joined[-1] if joined else None
        if last is not None and last.speaker == turn.speaker and turn.start - last.end < LONG_PAUSE:
            joined[-1] = last._replace(end=turn.end)
        else:
            joined.append(turn)
    return joined

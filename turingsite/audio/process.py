"""Make one recording comparable with all others: one pure, seeded function that records every number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from turingsite.audio.activity import (
    AUDIBLE,
    LAYOUTS,
    channels_are_apart,
    find_turns,
    frame_levels,
    speech_spans,
    tightened,
)
from turingsite.audio.decode import Decoded
from turingsite.audio.encode import MARGIN
from turingsite.audio.gaps import FADE, GapProfile, fill, plan, redraw, room_tone
from turingsite.audio.loudness import (
    CEILING,
    SURE_FROM,
    TARGET,
    Levelled,
    even_out,
    speaker_loudness,
)
from turingsite.audio.report import describe, gap_numbers
from turingsite.audio.samples import RATE, Samples
from turingsite.audio.turns import Turn, alone, cut_out, gaps, seconds, spans_of, speakers, tidy

VERSION = 1
MIXED = "mixed"
LEAD = 0.1  # seconds left before the first sound, the same for all
TAIL = 0.2
EVEN = 0.5  # LU that A and B may differ by


@dataclass(frozen=True)
class Processed:
    """Mono ``samples`` at 24 kHz, the turns within them (same ``key`` as came in), every step's ``numbers``.

    ``found`` is in the original's time: what came in, or what was detected.
    """

    samples: Samples
    turns: list[Turn]
    found: list[Turn]
    numbers: dict[str, Any]


def process(
    decoded: Decoded,
    turns: Sequence[Turn] = (),
    *,
    profile: GapProfile,
    seed: Sequence[int],
    pool: Sequence[float] = (),
    hints: Sequence[Turn] = (),
    layout: str = "",
    target: float = TARGET,
    ceiling: float = CEILING - MARGIN,
) -> Processed:
    """Level, trim and align ``decoded``; without ``turns`` they are found first (see ``find_turns``).

    ``layout`` is ``ab`` (A left, B right), ``ba``, ``mixed``, or empty: to be found out from the sound.
    ``pool`` holds human gaps in seconds for profiles that draw from them. The same input and ``seed`` give
    the same samples. ``ceiling`` is below the -1 dBFS of the result by what encoding may add.
    """
    samples, offset, prescale = _centred(decoded.samples)
    given = tidy(turns, decoded.duration)
    method = "manifest"
    if not given:
        given, method = find_turns(samples, hints=hints, layout=layout)
        given = [t._replace(key=i) for i, t in enumerate(tidy(given, decoded.duration))]
    channels = _channels(samples, given, layout)
    # latency hidden inside a turn's loose edges is latency all the same: gaps are aligned as they are heard
    tight = tightened(samples, given, channels=channels)
    drawn = plan(tight, profile, pool=pool, seed=seed)
    # before levels: what is behind the talk then goes from one speaker's gain to the next over the new gap
    samples, moved = redraw(samples, tight, drawn.changes, seed=seed)
    levelled = even_out(samples, moved, channels=channels, target=target, ceiling=ceiling)
    mono, moved, trim = _trimmed(levelled.samples, moved, seed)

    numbers: dict[str, Any] = {
        "version": VERSION,
        "source": _source(decoded),
        "decode": {
            "rate": RATE,
            "offset": [round(v, 6) for v in offset],
            "scaled_db": round(prescale, 2),
        },
        "turns": {"found_by": method, "given": len(turns), "used": len(given), "channels": channels},
        "trim": trim,
        "loudness": _loudness(mono, moved, levelled, prescale, target),
        "gaps": {
            "profile": profile.name,
            "over": profile.over if math.isfinite(profile.over) else None,
            "pool": drawn.pool,
            "pool_size": drawn.pool_size,
            "seed": list(seed),
            "before": gap_numbers(gaps(given)),
            "heard": gap_numbers(gaps(tight)),
            "after": gap_numbers(gaps(moved)),
            "redrawn": [
                {"turn": c.turn, "old": round(c.old, 4), "new": round(c.new, 4)} for c in drawn.changes
            ],
        },
        "result": describe(mono, moved),
    }
    return Processed(mono, moved, list(given), numbers)


def _centred(samples: Samples) -> tuple[Samples, list[float], float]:
    """Without constant offset, and scaled where that is needed for gates and thresholds to mean anything."""
    offset = samples.mean(axis=0, dtype=np.float64)
    samples = samples - offset.astype(np.float32)
    peak = float(np.abs(samples).max(initial=0.0))
    # a file in 16-bit units, or one so faint that BS.1770's absolute gate would swallow it
    if peak > 1.0 or 10 ** (AUDIBLE / 20) < peak < 0.05:
        samples = samples * np.float32(0.5 / peak)
        return samples, offset.tolist(), 20 * math.log10(0.5 / peak)
    return samples, offset.tolist(), 0.0


def _channels(samples: Samples, turns: Sequence[Turn], layout: str) -> dict[str, int] | None:
    """Which channel is whose: as ``layout`` says, else as the turns show; None for a mixed file."""
    who = speakers(turns)
    if samples.shape[1] == 2 and layout in LAYOUTS and set(who) <= set("AB"):
        return {s: LAYOUTS[layout].index(s) for s in who}
    if layout == MIXED or len(who) != 2 or not channels_are_apart(samples):
        return None
    first, second = (
        [float(np.abs(cut_out(samples[:, c], alone(turns, s), RATE)).mean()) if alone(turns, s) else 0.0
         for c in (0, 1)]
        for s in who
    )  # fmt: skip
    straight = first[0] + second[1] >= first[1] + second[0]
    return {who[0]: 0, who[1]: 1} if straight else {who[0]: 1, who[1]: 0}


def _trimmed(
    mono: Samples, turns: Sequence[Turn], seed: Sequence[int]
) -> tuple[Samples, list[Turn], dict[str, float]]:
    """Cut to the first and last speech with the same margins for all; what is missing is room tone."""
    levels = frame_levels(mono)
    heard = speech_spans(mono, levels)
    duration = len(mono) / RATE
    start, end = (heard[0][0], heard[-1][1]) if heard else (0.0, duration)
    if not heard:
        return mono, list(turns), {"lead": 0.0, "tail": 0.0, "added": 0.0}
    lead = round((start - LEAD) * RATE)
    tail = len(mono) - round((end + TAIL) * RATE)
    rng = np.random.default_rng([*seed, 2])
    tone = room_tone(mono, levels) if lead < 0 or tail < 0 else mono[:0]
    kept = mono[max(0, lead) : len(mono) - max(0, tail)].copy()
    parts = [fill(tone, max(0, -lead), rng), _edges(kept), fill(tone, max(0, -tail), rng)]
    result = _edges(np.concatenate(parts))
    shift = -lead / RATE
    moved = [t._replace(start=t.start + shift, end=t.end + shift) for t in turns]
    numbers = {
        "lead": round(max(0, lead) / RATE, 4),
        "tail": round(max(0, tail) / RATE, 4),
        "added": round((max(0, -lead) + max(0, -tail)) / RATE, 4),
    }
    return result, tidy(moved, len(result) / RATE), numbers


def _edges(samples: Samples) -> Samples:
    """Fade in and out so that no edge clicks."""
    fade = min(round(FADE * RATE), len(samples) // 2)
    if fade:
        ramp = np.linspace(0, 1, fade, dtype=np.float32)
        samples[:fade] *= ramp
        samples[-fade:] *= ramp[::-1]
    return samples


def _source(decoded: Decoded) -> dict[str, Any]:
    source = decoded.source
    return {
        "format": source.format,
        "subtype": source.subtype,
        "sample_rate": source.samplerate,
        "channels": source.channels,
        "duration": round(source.duration, 4),
        "size": source.size,
        "peak_db": _rounded(20 * math.log10(source.peak)) if source.peak > 0 else None,
        "clipped": round(source.clipped, 6),
        "warnings": [{"code": w.code, "message": w.message, "params": w.params} for w in source.warnings],
    }


def _loudness(
    mono: Samples, turns: Sequence[Turn], levelled: Levelled, prescale: float, target: float
) -> dict[str, Any]:
    who = speakers(turns)
    after = {s: speaker_loudness(mono, turns, s) for s in who}
    times = {s: seconds(alone(turns, s)) or seconds(spans_of(turns, s)) for s in who}
    values = [v for v in after.values() if v is not None]
    difference = max(values) - min(values) if len(values) == len(who) >= 2 else None
    sure = len(who) >= 2 and all(time >= SURE_FROM for time in times.values())
    return {
        "target": target,
        "before": {s: _less(v, prescale) for s, v in levelled.before.items()},
        "gain": {s: round(g + prescale, 3) for s, g in levelled.gain.items()},
        "after": {s: _rounded(v) for s, v in after.items()},
        "seconds": {s: round(t, 3) for s, t in times.items()},
        "difference": _rounded(difference),
        "is_even": None if difference is None or not sure else difference <= EVEN,
        "limited_db": round(levelled.limited, 2),
        "true_peak": _rounded(levelled.peak),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _less(value: float | None, by: float) -> float | None:
    return None if value is None else round(value - by, 3)

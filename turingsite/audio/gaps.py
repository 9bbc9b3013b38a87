"""Align the gaps between turns: one named, versioned rule (a gap profile) for every kind in a study.

Under ``own-1`` each gap over 800 ms is redrawn, seeded, from human gaps that the caller passes in, so that
waiting for a network does not give a machine away. ``published-1`` draws every gap from 180–230 ms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from turingsite.audio.activity import Levels, frame_levels, threshold
from turingsite.audio.samples import RATE, Samples
from turingsite.audio.turns import Gap, Turn, gaps
from turingsite.errors import Invalid, gettext_noop

FADE = 0.01  # seconds of cross-fade at every cut
FEWEST = 20  # human gaps, below which their spread says little

# For a corpus without (enough) human gaps: the 2nd to 98th percentile, in steps of four, of a log-normal
# with median 230 ms and a spread of .55 — a choice of ours, near the 200 ms usual between people.
BUILT_IN = tuple(
    round(0.23 * math.exp(0.55 * z), 3)
    for z in (
        -2.054, -1.555, -1.282, -1.08, -0.915, -0.772, -0.643, -0.524, -0.412, -0.305, -0.202, -0.1, 0.0,
        0.1, 0.202, 0.305, 0.412, 0.524, 0.643, 0.772, 0.915, 1.08, 1.282, 1.555, 2.054,
    )
)  # fmt: skip


@dataclass(frozen=True)
class GapProfile:
    """Which gaps are redrawn (longer than ``over`` seconds) and from what: a range, or human gaps if none."""

    name: str
    over: float
    low: float | None = None
    high: float | None = None

    @property
    def uses_pool(self) -> bool:
        return self.low is None or self.high is None


PROFILES = {
    profile.name: profile
    for profile in (
        GapProfile("own-1", over=0.8),
        GapProfile("published-1", over=0.0, low=0.18, high=0.23),
        GapProfile("as-recorded-1", over=math.inf, low=0.0, high=0.0),
    )
}


class Redrawn(NamedTuple):
    """The gap before turn ``turn`` (in order of start) goes from ``old`` to ``new`` seconds."""

    turn: int
    old: float
    new: float


class Plan(NamedTuple):
    changes: list[Redrawn]
    pool: str  # "range", "human" or "built-in"
    pool_size: int


def gap_profile(name: str) -> GapProfile:
    """The profile of that name and version; raises ``Invalid`` for one that there is not."""
    try:
        return PROFILES[name]
    except KeyError:
        raise Invalid(
            "unknown_gap_profile",
            gettext_noop("There is no gap profile called %(name)s; there are %(known)s."),
            {"name": name, "known": ", ".join(PROFILES)},
        ) from None


def plan(turns: Sequence[Turn], profile: GapProfile, *, pool: Sequence[float], seed: Sequence[int]) -> Plan:
    """Draw the new lengths for ``turns`` (tidy). The same seed, turns and pool give the same plan.

    Only human gaps that the profile itself would leave alone are drawn from, so that no gap over the bound
    remains; below twenty of them the built-in spread stands in, and the plan says so.
    """
    rng = np.random.default_rng(list(seed))
    human = sorted(g for g in pool if 0 < g <= profile.over)
    if not profile.uses_pool:
        source, values = "range", tuple[float, ...]()
    elif len(human) >= FEWEST:
        source, values = "human", tuple(human)
    else:
        source, values = "built-in", BUILT_IN
    changes: list[Redrawn] = []
    for index, gap in enumerate(gaps(turns), start=1):
        if gap.length <= 0 or gap.length <= profile.over:
            continue
        if profile.low is not None and profile.high is not None:
            new = float(rng.uniform(profile.low, profile.high))
        else:
            new = float(rng.choice(values))
        changes.append(Redrawn(index, gap.length, new))
    return Plan(changes, source, len(values))


def redraw(
    samples: Samples, turns: Sequence[Turn], changes: Sequence[Redrawn], *, seed: Sequence[int]
) -> tuple[Samples, list[Turn]]:
    """Cut and fill ``samples``, (n,) or (n, c), so that gaps have their new lengths; later turns move along.

    A gap is shortened from its middle and lengthened there with the recording's own room tone, always with
    cross-fades: what is heard right after and right before a turn stays.
    """
    if not changes:
        return samples, list(turns)
    rng = np.random.default_rng([*seed, 1])
    tone: Samples | None = None
    before: list[Gap] = gaps(turns)
    parts: list[Samples] = []
    at = 0
    shifts = np.zeros(len(turns))
    for change in changes:
        gap = before[change.turn - 1]
        start = round(gap.at * RATE)
        end = round((gap.at + gap.length) * RATE)
        wanted = round(change.new * RATE)
        first, last = wanted // 2, wanted - wanted // 2
        if wanted <= end - start:
            parts.append(samples[at : start + first])
            fade = min(round(FADE * RATE), first, last)
            if fade > 1:
                out = samples[start + first - fade : start + first]
                into = samples[end - last - fade : end - last]
                parts[-1] = np.concatenate([parts[-1][: len(parts[-1]) - fade], _cross(out, into)])
            at = end - last
        else:
            middle = (start + end) // 2
            tone = room_tone(samples) if tone is None else tone
            filling = fill(tone, wanted - (end - start), rng)
            parts += [samples[at:middle], _faded(filling)]
            at = middle
        shifts[change.turn :] += (wanted - (end - start)) / RATE
    parts.append(samples[at:])
    moved = [
        turn._replace(start=turn.start + float(by), end=turn.end + float(by))
        for turn, by in zip(turns, shifts, strict=True)
    ]
    return np.concatenate(parts), moved


def room_tone(samples: Samples, levels: Levels | None = None) -> Samples:
    """The longest quiet stretch of ``samples``, without its edges; empty where there is none of 50 ms."""
    if levels is None:
        levels = frame_levels(samples if samples.ndim == 1 else samples.mean(axis=1, dtype=np.float32))
    level = threshold(levels)
    if level is None:
        return samples[:0]
    quiet = np.concatenate(([False], levels <= level.low, [False])).astype(np.int8)
    runs = np.flatnonzero(np.diff(quiet)).reshape(-1, 2)
    if not len(runs):
        return samples[:0]
    start, end = runs[np.argmax(runs[:, 1] - runs[:, 0])]
    hop = RATE // 100
    start, end = (start + 3) * hop, (end - 3) * hop
    return samples[start:end] if end - start >= 0.05 * RATE else samples[:0]


def fill(tone: Samples, length: int, rng: np.random.Generator) -> Samples:
    """``length`` samples of room tone, pieced together from ``tone``; digital silence where there is none."""
    result = np.zeros((length, *tone.shape[1:]), dtype=np.float32)
    fade = round(FADE * RATE)
    if len(tone) < 4 * fade:
        return result
    at = 0
    while at < length:
        piece = tone[int(rng.integers(0, len(tone) // 2)) :]
        if rng.random() < 0.5:
            piece = piece[::-1]
        piece = piece[: length - at + fade]
        overlap = min(fade, at, len(piece))
        if overlap:
            result[at - overlap : at] = _cross(result[at - overlap : at], piece[:overlap])
        rest = piece[overlap:][: length - at]
        if not len(rest):
            break
        result[at : at + len(rest)] = rest
        at += len(rest)
    return result


def _cross(out: Samples, into: Samples) -> Samples:
    """From one noise to another at equal power."""
    angle = _along(np.linspace(0, np.pi / 2, len(out), dtype=np.float32), out)
    return np.asarray(out * np.cos(angle) + into * np.sin(angle), dtype=np.float32)


def _faded(filling: Samples) -> Samples:
    """Room tone is quiet: short fades at its ends are enough to keep it from clicking."""
    fade = min(48, len(filling) // 2)
    if fade:
        ramp = _along(np.linspace(0, 1, fade, dtype=np.float32), filling)
        filling[:fade] *= ramp
        filling[-fade:] *= ramp[::-1]
    return filling


def _along(curve: Samples, samples: Samples) -> Samples:
    """``curve`` over time, shaped to go with ``samples`` of one channel or several."""
    return curve.reshape(-1, *[1] * (samples.ndim - 1))

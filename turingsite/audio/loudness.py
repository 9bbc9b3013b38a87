"""Even out speakers: integrated loudness of each over their own turns, true peak kept under a ceiling.

Loudness is ITU-R BS.1770-4 (gated, through pyloudnorm); true peak is the largest sample at four times the
rate.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft, ndimage

from turingsite.audio.samples import RATE, Samples
from turingsite.audio.turns import Turn, alone, cut_out, frames_of, seconds, spans_of, speakers

TARGET = -18.0  # LUFS; -23 is a broadcast level, faint on phones
CEILING = -1.0  # dBFS, true peak
BLOCK = 0.4  # seconds: below this BS.1770 has no value
SURE_FROM = 3.0  # seconds of speech from which a speaker's loudness is relied on
LOUDEST_GAIN = 45.0  # dB
HOP = 0.01
SMOOTH_FRAMES = 3  # the gain never changes faster than over 30 ms, so that no change clicks
OVERSAMPLE = 4

_REACH = 10  # samples on either side that an interpolated one depends on
_SLAB = 240
_FFT = 280  # holds a slab with its surroundings and the 20 taps of a phase
_ATTACK = 121  # samples, 5 ms; with two passes of smoothing within one slab


class Limited(NamedTuple):
    """Samples under the ceiling, the deepest cut (dB), and their true peak (dBFS, None for silence)."""

    samples: Samples
    cut: float
    peak: float | None


class Levelled(NamedTuple):
    """Mono samples with speakers evened out, and each step's numbers (dicts by speaker; dB, LUFS)."""

    samples: Samples
    before: dict[str, float | None]
    gain: dict[str, float]
    limited: float  # deepest cut of the limiter, dB
    peak: float | None  # true peak, dBFS


class _Interpolator(NamedTuple):
    """The phases' spectra, and by how much an interpolated sample can at most exceed those around it."""

    phases: list[NDArray[np.complex64]]
    overshoot: float


@functools.cache
def _interpolator() -> _Interpolator:
    from scipy import signal  # here: only sound needs it, and it costs every process a third of its start

    taps = signal.firwin(20 * OVERSAMPLE + 1, 1 / OVERSAMPLE, window=("kaiser", 5.0)).astype(np.float32)
    by_phase = [taps[phase::OVERSAMPLE] * OVERSAMPLE for phase in range(OVERSAMPLE)]
    overshoot = float(max(np.abs(phase).sum() for phase in by_phase))
    return _Interpolator([fft.rfft(phase, _FFT) for phase in by_phase[1:]], overshoot)


@functools.cache
def _meter() -> Any:
    import pyloudnorm  # here: it loads scipy.signal

    return pyloudnorm.Meter(RATE)


def integrated(samples: Samples) -> float | None:
    """Integrated loudness in LUFS of mono samples at 24 kHz; None below 0.4 s or where all is gated away."""
    if len(samples) <= BLOCK * RATE:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # mean of no block, when everything is gated
        value = float(_meter().integrated_loudness(samples))
    return value if math.isfinite(value) else None


def speaker_loudness(samples: Samples, turns: Sequence[Turn], speaker: str) -> float | None:
    """Integrated loudness over the speaker's turns, leaving out where others talk too unless that is all."""
    spans = alone(turns, speaker)
    if seconds(spans) <= BLOCK:
        spans = spans_of(turns, speaker)
    return integrated(cut_out(samples, spans, RATE))


def true_peak(samples: Samples) -> float | None:
    """True peak of mono samples in dBFS; None for digital silence."""
    top = float(np.abs(samples).max(initial=0.0))
    # only slabs that could hold the true peak are interpolated
    _, over = _interpolated(samples, top / _interpolator().overshoot)
    return _decibels(max(top, float(over.max(initial=0.0))))


def _decibels(magnitude: float) -> float | None:
    return 20 * math.log10(magnitude) if magnitude > 0 else None


def _interpolated(samples: Samples, floor: float) -> tuple[NDArray[np.intp], Samples]:
    """Slabs that hold a sample above ``floor``: their numbers, and (slabs, samples) of true magnitudes."""
    count = -(-len(samples) // _SLAB)
    padded = np.zeros(count * _SLAB + 2 * _REACH, dtype=np.float32)
    padded[_REACH : _REACH + len(samples)] = samples
    rows = np.lib.stride_tricks.sliding_window_view(padded, _SLAB + 2 * _REACH)[::_SLAB] if count else None
    if rows is None:
        return np.zeros(0, dtype=np.intp), np.zeros((0, _SLAB), dtype=np.float32)
    hot = np.flatnonzero(np.maximum(rows.max(axis=1), -rows.min(axis=1)) > floor)
    held = rows[hot]
    result: Samples = np.abs(held[:, _REACH:-_REACH])
    # the interpolator is centred on its tap 40: phase p of it falls p / 4 of a sample after each sample
    spectrum = fft.rfft(held, _FFT, axis=1)
    for phase in _interpolator().phases:
        fine = fft.irfft(spectrum * phase, _FFT, axis=1)[:, 2 * _REACH - 1 : 2 * _REACH - 1 + _SLAB]
        np.maximum(result, np.abs(fine), out=result)
    return hot, result


def limit(samples: Samples, ceiling: float = CEILING) -> Limited:
    """Hold the true peak under ``ceiling`` dBFS with a look-ahead gain.

    Only the surroundings of a peak (5 ms) are turned down, smoothly: the talk keeps its loudness.
    """
    top = 10 ** (ceiling / 20)
    slabs, over = _interpolated(samples, top / _interpolator().overshoot)
    tops = over.max(axis=1, initial=0.0)
    if tops.max(initial=0.0) <= top:
        return Limited(samples, 0.0, true_peak(samples))
    slabs, over = slabs[tops > top], over[tops > top]
    result = samples.copy()
    left = 0.0
    # the gain reaches one slab beyond a peak on either side: neighbouring peaks are turned down together
    for group in np.split(np.arange(len(slabs)), np.flatnonzero(np.diff(slabs) > 3) + 1):
        first = int(slabs[group[0]]) - 2
        need = np.ones((int(slabs[group[-1]]) + 3 - first) * _SLAB, dtype=np.float32)
        need.reshape(-1, _SLAB)[slabs[group] - first] = top / np.maximum(over[group], top)
        gain = ndimage.minimum_filter1d(need, 2 * _ATTACK + 1, mode="nearest")
        for _ in range(2):  # two passes of a box are a smooth hill, and stay at or under the minimum
            gain = ndimage.uniform_filter1d(gain, _ATTACK, mode="nearest")
        low, high = max(0, first * _SLAB), min(len(samples), first * _SLAB + len(need))
        result[low:high] *= gain[low - first * _SLAB : high - first * _SLAB]
        left = max(
            left,
            float(_interpolated(result[low:high], 0.9 * top / _interpolator().overshoot)[1].max(initial=0.0)),
        )
    if left > top:  # by a hair: a gain that moves bends the curve between samples
        result *= np.float32(top / left)
    return Limited(result, 20 * math.log10(float(over.max()) / top), _decibels(min(left, top)))


def gain_curve(turns: Sequence[Turn], gains: Mapping[str, float], length: int) -> NDArray[np.float32]:
    """The gain factor at each of ``length`` samples of a mixed recording.

    A speaker's own gain in their turns, the mean (in dB) where two talk at once, a straight line in dB from
    one to the next in the gap between turns, so that the noise behind never jumps.
    """
    count = length // round(HOP * RATE) + 1
    total, talking = np.zeros(count), np.zeros(count)
    for speaker in speakers(turns):
        mask = frames_of(spans_of(turns, speaker), count, HOP)
        total[mask] += gains[speaker]
        talking[mask] += 1
    known = np.flatnonzero(talking)
    if not len(known):
        return np.ones(length, dtype=np.float32)
    level = np.interp(np.arange(count), known, total[known] / talking[known])
    level = ndimage.uniform_filter1d(level, SMOOTH_FRAMES, mode="nearest")
    # a straight line from the middle of one frame to the middle of the next
    factor = (10 ** (level / 20)).astype(np.float32)
    middles = np.concatenate((factor[:1], factor, factor[-1:]))
    hop = round(HOP * RATE)
    ramp = np.arange(hop, dtype=np.float32) / hop
    lines = middles[:-1, None] + (middles[1:] - middles[:-1])[:, None] * ramp
    return np.asarray(lines.reshape(-1)[hop // 2 : hop // 2 + length], dtype=np.float32)


def even_out(
    samples: Samples,
    turns: Sequence[Turn],
    *,
    channels: Mapping[str, int] | None,
    target: float = TARGET,
    ceiling: float = CEILING,
) -> Levelled:
    """Bring every speaker to ``target`` LUFS and mix to mono with true peak at or under ``ceiling``.

    ``samples`` is (n, c); ``channels`` says which channel is whose, or is None for a mixed recording, where
    the gain follows the turns. A speaker too short to measure gets the gain of the other. Nothing measurable:
    nothing changes but the ceiling.
    """
    who = speakers(turns)
    flat = samples.mean(axis=1, dtype=np.float32) if channels is None else samples[:, 0]
    own = {s: samples[:, channels[s]] if channels else flat for s in who}
    before = {s: speaker_loudness(own[s], turns, s) for s in who}
    measured = {s: target - level for s, level in before.items() if level is not None}
    fallback = sum(measured.values()) / len(measured) if measured else 0.0
    gain = {s: min(LOUDEST_GAIN, measured.get(s, fallback)) for s in who}

    def mixed() -> Samples:
        if channels is not None and who:
            factors = {s: np.float32(10 ** (gain[s] / 20)) for s in who}
            return np.asarray(sum(own[s] * factors[s] for s in who), dtype=np.float32)
        return flat * gain_curve(turns, gain, len(flat))

    result = limit(mixed(), ceiling)
    # cross-fades, the other channel's bleed and the limiter take a little away or add it: correct for that
    for _ in range(4):
        after = {s: speaker_loudness(result.samples, turns, s) for s in measured}
        short = {s: target - level for s, level in after.items() if level is not None}
        if all(abs(miss) <= 0.05 for miss in short.values()):
            break
        # what is added to peaks is partly taken away again
        reach = 1.25 if result.cut else 1.0
        gain = {s: min(LOUDEST_GAIN, level + reach * short.get(s, 0.0)) for s, level in gain.items()}
        result = limit(mixed(), ceiling)
    return Levelled(result.samples, before, gain, result.cut, result.peak)

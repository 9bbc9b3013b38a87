"""Tell two speakers in one channel apart by pitch and colour of voice: rough, and meant to be looked over.

Two clusters over windows of 0.5 s (12 cepstral coefficients of 24 mel bands, and the logarithm of the pitch),
smoothed in time; a change of speaker is put where the level is lowest nearby.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from turingsite.audio.activity import HOP, frame_levels
from turingsite.audio.samples import RATE, Samples
from turingsite.audio.turns import Span, Turn

Floats = NDArray[np.float64]

_HOP = round(HOP * RATE)
_FRAME = 1024  # 43 ms: two periods of the lowest voice
_WINDOW = 50  # frames
_STEP = 10
_FEWEST_WINDOWS = 30  # three seconds of talk: in less, one voice varies as much as two
_PITCH_WEIGHT = 2.5
# halves of one synthetic voice lay up to 2.9 and 3.9 apart, two voices 5.5 and 10.6
_APART_IN_COLOUR, _APART_IN_PITCH = 3.2, 5.0
_LOW_HZ, _HIGH_HZ = 70, 400


def tell_apart(samples: Samples, spans: Sequence[Span], names: tuple[str, str]) -> list[Turn]:
    """Turns of two speakers within ``spans`` of mono samples; whoever speaks first is ``names[0]``."""
    shapes, pitch = _frames(samples)
    windows: list[tuple[int, int, int]] = []  # span, first frame, last frame
    for number, (start, end) in enumerate(spans):
        begin, last = round(start / HOP), min(round(end / HOP), len(shapes))
        for first in range(begin, max(begin + 1, last - _WINDOW // 2), _STEP):
            windows.append((number, first, max(first + 1, min(last, first + _WINDOW))))
    vectors = np.array([_describe(shapes[a:b], pitch[a:b]) for _, a, b in windows])
    labels = _two_clusters(vectors)
    if not _are_two_voices(vectors, labels):
        labels = np.zeros_like(labels)
    found: list[tuple[int, float, float]] = []
    levels = frame_levels(samples)
    for number, (start, end) in enumerate(spans):
        inside = [k for k, window in enumerate(windows) if window[0] == number]
        own = _smooth(labels[inside])
        edges: list[float] = [start]
        marks = [int(own[0])]
        for position in np.flatnonzero(np.diff(own)) + 1:
            middle = windows[inside[position]][1] + _WINDOW // 2 - _STEP // 2
            near = np.arange(max(0, middle - 25), min(len(levels), middle + 25))
            at = float(near[np.argmin(levels[near])] * HOP) if len(near) else middle * HOP
            if edges[-1] + 0.2 < at < end - 0.2:
                edges.append(at)
                marks.append(int(own[position]))
        edges.append(end)
        for mark, (a, b) in zip(marks, itertools.pairwise(edges), strict=True):
            found.append((mark, a, b))
    return [Turn(names[0] if mark == found[0][0] else names[1], a, b) for mark, a, b in found]


def _frames(samples: Samples) -> tuple[Floats, Floats]:
    """(cepstra, log2 pitch or NaN where unvoiced) for each 10 ms."""
    padded = np.concatenate([samples, np.zeros(_FRAME, dtype=np.float32)])
    view = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP]
    window = np.hanning(_FRAME).astype(np.float32)
    bank = _mel_bank()
    shapes, pitches = [], []
    for block in (view[i : i + 1000] for i in range(0, len(view), 1000)):
        power = np.abs(np.asarray(fft.rfft(block * window, 2 * _FRAME, axis=1))) ** 2
        mel = np.log(power @ bank + 1e-10)
        shapes.append(np.asarray(fft.dct(mel, axis=1, norm="ortho"))[:, 1:13])
        auto = np.asarray(fft.irfft(power, axis=1))[:, : RATE // _LOW_HZ + 1]
        lags = auto[:, RATE // _HIGH_HZ :] / np.maximum(auto[:, :1], 1e-12)
        best = lags.argmax(axis=1)
        pitch = np.log2(RATE / (best + RATE // _HIGH_HZ))
        pitches.append(np.where(lags.max(axis=1) > 0.4, pitch, np.nan))
    return np.concatenate(shapes).astype(np.float64), np.concatenate(pitches).astype(np.float64)


def _mel_bank(bands: int = 24) -> NDArray[np.float32]:
    mel = np.linspace(_mel(80.0), _mel(8000.0), bands + 2)
    edges = 700 * (10 ** (mel / 2595) - 1)
    bins = np.fft.rfftfreq(2 * _FRAME, 1 / RATE)[:, None]
    up = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    down = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.maximum(0, np.minimum(up, down)).astype(np.float32)


def _mel(hertz: float) -> float:
    return float(2595 * np.log10(1 + hertz / 700))


def _describe(shapes: Floats, pitch: Floats) -> Floats:
    voiced = pitch[np.isfinite(pitch)]
    middle = float(np.median(voiced)) if len(voiced) >= 3 else np.nan
    return np.append(shapes.mean(axis=0), middle)


def _two_clusters(vectors: Floats) -> NDArray[np.int64]:
    """Two-means over standardised vectors, started from both ends of the main direction (no chance in it)."""
    if len(vectors) < _FEWEST_WINDOWS:
        return np.zeros(len(vectors), dtype=np.int64)
    known = np.isfinite(vectors[:, -1])
    fallback = float(np.median(vectors[known, -1])) if known.any() else 0.0
    vectors = np.where(np.isfinite(vectors), vectors, fallback)
    spread = vectors.std(axis=0)
    scaled = (vectors - vectors.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)
    scaled[:, -1] *= _PITCH_WEIGHT
    along = np.linalg.svd(scaled, full_matrices=False)[2][0]
    labels: NDArray[np.int64] = np.asarray(scaled @ along > 0, dtype=np.int64)
    for _ in range(50):
        if labels.min() == labels.max():
            break
        centres = np.array([scaled[labels == c].mean(axis=0) for c in (0, 1)])
        new = np.asarray(np.linalg.norm(scaled[:, None] - centres, axis=2).argmin(axis=1), dtype=np.int64)
        if (new == labels).all():
            break
        labels = new
    return labels


def _are_two_voices(vectors: Floats, labels: NDArray[np.int64]) -> bool:
    """Whether the clusters lie further apart than two halves of one voice do (in their own spread)."""
    groups = [vectors[labels == c] for c in (0, 1)]
    if min(len(g) for g in groups) < 2:
        return False
    between = groups[0][:, :-1].mean(axis=0) - groups[1][:, :-1].mean(axis=0)
    colour = _distance(*(g[:, :-1] @ between for g in groups))
    pitch = _distance(*(g[np.isfinite(g[:, -1]), -1] for g in groups))
    return colour >= _APART_IN_COLOUR or pitch >= _APART_IN_PITCH


def _distance(one: Floats, other: Floats) -> float:
    if min(len(one), len(other)) < 2:
        return 0.0
    spread = float(np.sqrt((one.var() + other.var()) / 2))
    return abs(float(one.mean() - other.mean())) / spread if spread > 1e-9 else 0.0


def _smooth(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Majority over 0.7 s."""
    padded = np.pad(labels, 3, mode="edge")
    sums = np.convolve(padded, np.ones(7, dtype=np.int64), mode="valid")
    return np.asarray(sums > 3, dtype=np.int64)

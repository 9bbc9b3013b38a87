"""Speakers are evened out, peaks are held, and nothing jumps."""

from __future__ import annotations

import math

import numpy as np
import pyloudnorm
import pytest
from scipy import signal

from tests.sounds import RATE, silence, talk, voice
from turingsite.audio.loudness import (
    even_out,
    gain_curve,
    integrated,
    limit,
    speaker_loudness,
    true_peak,
)
from turingsite.audio.turns import Turn


def reference_peak(samples: np.ndarray) -> float:
    return float(20 * np.log10(np.abs(signal.resample_poly(samples.astype(np.float64), 4, 1)).max()))


def test_a_full_scale_tone_has_its_textbook_loudness() -> None:
    """BS.1770-4: a 997 Hz sine at 0 dBFS in one channel reads -3.01 LUFS (24 kHz: within 0.1)."""
    tone = np.sin(2 * np.pi * 997 * np.arange(5 * RATE) / RATE).astype(np.float32)
    assert integrated(tone) == pytest.approx(-3.01, abs=0.1)
    assert integrated(tone * 0.1) == pytest.approx(-23.01, abs=0.1)


def test_too_short_or_silent_has_no_loudness() -> None:
    assert integrated(voice(0.3)) is None
    assert integrated(silence(2.0, level=None)) is None
    assert integrated(np.zeros(0, dtype=np.float32)) is None


@pytest.mark.parametrize("length", [1, 239, 240, 241, 5_000, 30_001])
@pytest.mark.parametrize("kind", ["noise", "tone"])
def test_true_peak_is_that_of_four_times_the_rate(length: int, kind: str) -> None:
    rng = np.random.default_rng(length)
    noise = rng.standard_normal(length) * 0.3
    tone = np.sin(np.arange(length) * np.pi / 2 + np.pi / 4)  # its samples miss its peak by 3 dB
    samples = (noise if kind == "noise" else tone).astype(np.float32)
    assert true_peak(samples) == pytest.approx(reference_peak(samples), abs=0.02)


def test_silence_has_no_true_peak() -> None:
    assert true_peak(np.zeros(100, dtype=np.float32)) is None
    assert true_peak(np.zeros(0, dtype=np.float32)) is None


def test_the_limiter_holds_the_peak_and_leaves_the_rest() -> None:
    samples = voice(2.0, level=-26)
    samples[10_000:10_040] += np.hanning(40).astype(np.float32) * 1.5
    result, cut, peak = limit(samples, -3.0)
    assert reference_peak(result) <= -2.99
    assert cut > 5
    assert peak == pytest.approx(reference_peak(result), abs=0.02)
    away = np.abs(np.arange(len(samples)) - 10_020) > 1_000
    assert np.array_equal(result[away], samples[away])
    untouched, none, peak = limit(voice(1.0, level=-30), -3.0)
    assert none == 0
    assert peak == pytest.approx(reference_peak(untouched), abs=0.02)
    assert np.array_equal(untouched, voice(1.0, level=-30))


def test_the_limiter_copes_with_far_too_much() -> None:
    result, cut, _ = limit(voice(1.0, level=20), -1.0)
    assert reference_peak(result) <= -0.99
    assert cut > 20


@pytest.mark.parametrize(("a", "b"), [(-20.0, -32.0), (-45.0, -18.0), (-3.0, -30.0)])
def test_mixed_speakers_are_evened_out(a: float, b: float) -> None:
    samples, turns = talk([("A", 0.2, 3.5), ("B", 0.6, 3.5), ("A", 0.05, 2.0)], levels={"A": a, "B": b})
    result = even_out(samples[:, None], turns, channels=None, ceiling=-2.5)
    levels = [speaker_loudness(result.samples, turns, s) for s in "AB"]
    assert levels == [pytest.approx(-18, abs=0.1), pytest.approx(-18, abs=0.1)]
    peak = true_peak(result.samples)
    assert peak is not None
    assert peak <= -2.49
    assert result.gain["B"] - result.gain["A"] == pytest.approx(a - b, abs=3)


def test_two_channels_are_evened_out_and_mixed() -> None:
    a, b = voice(4.0, level=-20), voice(4.0, pitch=190, level=-36)
    gap = np.zeros_like(a)
    two = np.stack([np.concatenate([a, gap]), np.concatenate([gap, b])], axis=1)
    turns = [Turn("A", 0, 4), Turn("B", 4, 8)]
    result = even_out(two, turns, channels={"A": 0, "B": 1})
    assert result.samples.ndim == 1
    meter = pyloudnorm.Meter(RATE)
    halves = np.split(result.samples, 2)
    assert [meter.integrated_loudness(h) for h in halves] == [pytest.approx(-18, abs=0.1)] * 2


def test_a_speaker_too_short_to_measure_gets_the_others_gain() -> None:
    samples, turns = talk([("A", 0.1, 3.0), ("B", 0.3, 0.25)])
    result = even_out(samples[:, None], turns, channels=None)
    assert result.before["B"] is None
    assert result.gain["B"] == result.gain["A"]


def test_silence_is_left_alone() -> None:
    samples = silence(2.0, level=None)[:, None]
    result = even_out(samples, [Turn("A", 0, 1), Turn("B", 1, 2)], channels=None)
    assert not result.samples.any()
    assert result.gain == {"A": 0.0, "B": 0.0}
    assert even_out(samples, [], channels=None).gain == {}


def test_gain_never_jumps_and_moves_evenly_through_a_gap() -> None:
    turns = [Turn("A", 0.0, 1.0), Turn("B", 3.0, 4.0), Turn("A", 4.0, 5.0)]
    curve = gain_curve(turns, {"A": 0.0, "B": 12.0}, 5 * RATE)
    level = 20 * np.log10(curve)
    assert level[RATE // 2] == pytest.approx(0, abs=0.01)
    assert level[round(3.5 * RATE)] == pytest.approx(12, abs=0.01)
    assert level[2 * RATE] == pytest.approx(6, abs=0.2)  # half way through the gap
    assert np.abs(np.diff(level)).max() < 12 / (0.02 * RATE)  # 12 dB take 20 ms at least
    in_gap = level[round(1.05 * RATE) : round(2.95 * RATE)]
    assert (np.diff(in_gap) >= -1e-4).all()


def test_where_two_talk_at_once_gain_is_between_theirs() -> None:
    curve = gain_curve([Turn("A", 0, 2), Turn("B", 1, 3)], {"A": 0.0, "B": 10.0}, 3 * RATE)
    assert 20 * math.log10(curve[round(1.5 * RATE)]) == pytest.approx(5, abs=0.01)


def test_a_change_of_gain_makes_no_click() -> None:
    """A steady tone over a 12 dB step: no energy away from the tone that a hard step would put there."""
    tone = (0.1 * np.sin(2 * np.pi * 300 * np.arange(2 * RATE) / RATE)).astype(np.float32)
    turns = [Turn("A", 0, 1), Turn("B", 1, 2)]
    smooth = tone * gain_curve(turns, {"A": 0.0, "B": 12.0}, len(tone))
    hard = tone * np.where(np.arange(len(tone)) < RATE + 20, 1.0, 10 ** (12 / 20))
    high = signal.butter(6, 3_000, "highpass", fs=RATE, output="sos")
    clicks = [np.abs(signal.sosfilt(high, x)[RATE // 2 :]).max() for x in (smooth, hard)]
    assert clicks[0] < clicks[1] / 30

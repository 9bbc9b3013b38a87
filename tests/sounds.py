"""Small synthetic talk for tests: a buzzing voice with syllables, of any pitch, level and length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from turingsite.audio.decode import Decoded, Probe
from turingsite.audio.turns import Turn

Samples = NDArray[np.float32]

RATE = 24_000
CASES = Path(__file__).resolve().parents[2] / "shared" / "cases" / "audio"


def case(name: str) -> Path:
    """A file of the awkward inputs beside the project; skips where they are not there."""
    path = CASES / name
    if not path.exists():
        pytest.skip(f"{path} is not there: the awkward inputs lie beside the project")
    return path


def voice(
    seconds: float, *, pitch: float = 110.0, level: float = -20.0, seed: int = 1, rate: int = RATE
) -> Samples:
    """A voice of syllables (about four a second), ``level`` dB RMS, starting and ending in sound."""
    rng = np.random.default_rng(seed)
    n = round(seconds * rate)
    t = np.arange(n) / rate
    phase = 2 * np.pi * np.cumsum(pitch * (1 + 0.04 * np.sin(2 * np.pi * 3 * t))) / rate
    formant = 500 + pitch * 2
    sound = sum(
        np.sin(k * phase + rng.uniform(0, 6)) / (1 + ((k * pitch - formant) / 400) ** 2)
        for k in range(1, int(min(4000, rate / 2.2) / pitch))
    )
    syllables = 0.12 + np.abs(np.sin(2 * np.pi * 2 * t + 0.6))
    sound = np.asarray(sound * syllables)
    sound *= 10 ** (level / 20) / max(1e-9, float(np.sqrt(np.mean(sound**2))) if n else 1.0)
    return sound.astype(np.float32)


def silence(seconds: float, *, level: float | None = -70.0, seed: int = 9, rate: int = RATE) -> Samples:
    """Room tone (noise at ``level`` dB RMS), or digital silence where ``level`` is None."""
    n = round(seconds * rate)
    if level is None:
        return np.zeros(n, dtype=np.float32)
    noise = np.random.default_rng(seed).standard_normal(n) * 10 ** (level / 20)
    return noise.astype(np.float32)


def talk(
    plan: list[tuple[str, float, float]], *, tail: float = 0.0, levels: dict[str, float] | None = None
) -> tuple[Samples, list[Turn]]:
    """Mixed talk from (speaker, gap before, length): A is a low voice, B a high one. With the turns."""
    levels = levels or {}
    parts: list[Samples] = []
    turns: list[Turn] = []
    at = 0.0
    for index, (speaker, gap, length) in enumerate(plan):
        parts.append(silence(gap, seed=index))
        at += gap
        pitch = 100.0 if speaker == "A" else 190.0
        parts.append(voice(length, pitch=pitch, level=levels.get(speaker, -20.0), seed=index))
        turns.append(Turn(speaker, at, at + length, index))
        at += length
    parts.append(silence(tail, seed=99))
    sound = np.concatenate(parts)
    return sound + silence(len(sound) / RATE, seed=7)[: len(sound)], turns


def decoded(samples: Samples, *, clipped: float = 0.0) -> Decoded:
    """``samples`` (n,) or (n, 2) at 24 kHz as if read from a WAV file."""
    shaped = samples if samples.ndim == 2 else samples[:, None]
    source = Probe(
        duration=len(shaped) / RATE,
        samplerate=RATE,
        channels=shaped.shape[1],
        format="WAV",
        subtype="FLOAT",
        frames=len(shaped),
        size=4 * shaped.size + 44,
        peak=float(np.abs(shaped).max(initial=0.0)),
        clipped=clipped,
    )
    return Decoded(samples=shaped.astype(np.float32), rate=RATE, source=source)

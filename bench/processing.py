"""Audio seconds per processor second of ours, against a minimal pyloudnorm pipeline that does the same steps.

The anchor reads, resamples, levels each speaker by pyloudnorm, holds the true peak by turning the clip down,
cuts long gaps, measures before and after, and encodes to the same MP3: nothing is found out, reported or
limited. Both run in turns on the same clips in one run. Bound: ratio >= 0.8, loudness within 0.1 LU.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyloudnorm
import soundfile
from numpy.typing import NDArray
from scipy import signal

from turingsite.audio.decode import decode
from turingsite.audio.encode import LEVEL, make_playable
from turingsite.audio.gaps import gap_profile
from turingsite.audio.process import process
from turingsite.audio.samples import RATE, Samples
from turingsite.audio.turns import Turn

CLIPS, SECONDS, ROUNDS = 6, 40.0, 3
LEAST_RATIO, MOST_DIFFERENCE = 0.8, 0.1
TARGET, CEILING = -18.0, -1.0


def clip(seed: int, path: Path) -> list[Turn]:
    """A 16 kHz WAV of two buzzing voices, B 12 dB under A, with some gaps over 800 ms; its turns."""
    rng = np.random.default_rng(seed)
    rate, at = 16_000, 0.0
    parts: list[NDArray[np.float64]] = []
    turns: list[Turn] = []
    while at < SECONDS:
        speaker = "AB"[len(turns) % 2]
        gap, length = float(rng.choice([0.15, 0.3, 0.5, 1.4, 2.2])), float(rng.uniform(1.5, 5))
        t = np.arange(round(length * rate)) / rate
        pitch = (100 if speaker == "A" else 190) * (1 + 0.03 * np.sin(2 * np.pi * 3 * t))
        phase = 2 * np.pi * np.cumsum(pitch) / rate
        voice = np.asarray(sum(np.sin(k * phase) / (1 + ((k * 100 - 600) / 500) ** 2) for k in range(1, 30)))
        voice *= (0.1 + np.abs(np.sin(2 * np.pi * 2 * t))) * (0.02 if speaker == "A" else 0.005)
        parts += [np.zeros(round(gap * rate)), voice]
        turns.append(Turn(speaker, at + gap, at + gap + length, len(turns)))
        at += gap + length
    sound = np.concatenate(parts)
    sound += rng.standard_normal(len(sound)) * 10 ** (-70 / 20)
    soundfile.write(path, sound, rate, subtype="PCM_16")
    return turns


def ours(path: Path, turns: list[Turn]) -> dict[str, float]:
    result = process(decode(path), turns, profile=gap_profile("own-1"), seed=[1])
    make_playable(result.samples, known_peak=result.numbers["loudness"]["true_peak"])
    after: dict[str, float] = result.numbers["loudness"]["after"]
    return after


def anchor(path: Path, turns: list[Turn]) -> dict[str, float]:
    sound, rate = soundfile.read(path, dtype="float32")
    sound = signal.resample_poly(sound, RATE, rate)
    meter = pyloudnorm.Meter(RATE)

    def measured(speaker: str) -> float:
        own = [sound[round(t.start * RATE) : round(t.end * RATE)] for t in turns if t.speaker == speaker]
        return float(meter.integrated_loudness(np.concatenate(own)))

    gain = {s: TARGET - measured(s) for s in "AB"}
    for turn in turns:
        sound[round(turn.start * RATE) : round(turn.end * RATE)] *= 10 ** (gain[turn.speaker] / 20)
    after = {s: measured(s) for s in "AB"}
    peak = 20 * np.log10(np.abs(signal.resample_poly(sound, 4, 1)).max())
    if peak > CEILING:
        sound = sound * 10 ** ((CEILING - peak) / 20)
    rng = np.random.default_rng(1)
    parts, end = [], 0.0
    for turn in turns:
        gap = turn.start - end
        if gap > 0.8:
            gap = float(rng.uniform(0.18, 0.23))
        parts.append(sound[round((turn.start - gap) * RATE) : round(turn.end * RATE)])
        end = turn.end
    encode(np.concatenate(parts))
    return after


def encode(sound: Samples) -> bytes:
    buffer = io.BytesIO()
    options = {
        "format": "MP3",
        "subtype": "MPEG_LAYER_III",
        "compression_level": LEVEL,
        "bitrate_mode": "CONSTANT",
    }
    with soundfile.SoundFile(buffer, "w", samplerate=RATE, channels=1, **options) as file:
        file.write(sound)
    return buffer.getvalue()


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        clips = []
        for seed in range(CLIPS):
            path = Path(folder) / f"{seed}.wav"
            clips.append((path, clip(seed, path)))
        seconds = sum(soundfile.info(path).duration for path, _ in clips)
        spent = {"ours": [0.0] * ROUNDS, "anchor": [0.0] * ROUNDS}
        worst = 0.0
        for function in (ours, anchor):
            function(*clips[0])  # imports and filters are made once
        for number in range(ROUNDS):
            for path, turns in clips:
                start = time.process_time()
                got = ours(path, turns)
                middle = time.process_time()
                expected = anchor(path, turns)
                spent["ours"][number] += middle - start
                spent["anchor"][number] += time.process_time() - middle
                worst = max(worst, *(abs(got[s] - expected[s]) for s in "AB"))
    # the quickest round of each: whatever else the machine does only ever adds
    speed = {name: seconds / min(times) for name, times in spent.items()}
    ratio = speed["ours"] / speed["anchor"]
    print(f"ours    {speed['ours']:7.1f} audio seconds per processor second")
    print(f"anchor  {speed['anchor']:7.1f}")
    print(f"ratio   {ratio:7.2f}  (at least {LEAST_RATIO})")
    print(f"loudness differs by {worst:.3f} LU at most  (at most {MOST_DIFFERENCE})")
    return 0 if ratio >= LEAST_RATIO and worst <= MOST_DIFFERENCE else 1


if __name__ == "__main__":
    sys.exit(main())

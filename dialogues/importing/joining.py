"""Turns that come as files of their own become one recording: 24 kHz mono FLAC, each turn at its place."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile

from dialogues.importing.turns import TurnTime
from turingsite.audio.decode import decode
from turingsite.audio.samples import RATE


def join(paths: Sequence[Path], turns: Sequence[TurnTime], folder: Path) -> Path:
    """Write the recording made of ``paths``, each at its turn's start; its path in ``folder``.

    Where turns overlap they are added. A sum beyond full scale is taken down as a whole, never wrapped.
    """
    end = max(turn.end for turn in turns)
    sound = np.zeros(round(end * RATE) + RATE // 10, dtype=np.float32)
    for path, turn in zip(paths, turns, strict=True):
        samples = decode(path).samples.mean(axis=1, dtype=np.float32)
        at = round(turn.start * RATE)
        stop = min(len(sound), at + len(samples))
        sound[at:stop] += samples[: stop - at]
    sound = sound[: round(end * RATE)]
    peak = float(np.abs(sound).max(initial=0.0))
    if peak > 1.0:
        sound /= peak
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".flac", delete=False) as target:
        soundfile.write(target, sound, RATE, format="FLAC", subtype="PCM_24")
    return Path(target.name)

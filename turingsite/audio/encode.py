"""The one format that everything is played in: MP3, 24 kHz mono, 48 kbit/s in every frame, no tags.

Bytes follow the length alone (144 a frame of 24 ms), and the encoder is always the same LAME in libsndfile,
so that neither size nor header tells one kind of dialogue from another.
"""

from __future__ import annotations

import io
from typing import NamedTuple

import numpy as np
import soundfile

from turingsite.audio.loudness import CEILING, limit, true_peak
from turingsite.audio.samples import RATE, Samples
from turingsite.errors import Invalid, gettext_noop

BITRATE = 48_000
# libsndfile maps 0..1 to 160..8 kbit/s for MPEG-2; this is the middle of what gives 48
LEVEL = (160 - 48) / (160 - 8)
FRAME_SAMPLES = 576
FRAME_BYTES = 144
DELAY = 1105 / RATE  # seconds by which encoder and decoder shift what is heard
# 48 kbit/s lets peaks grow by a decibel or so; starting below the ceiling saves a second encoding
MARGIN = 1.5

_BITRATES = {  # kbit/s by header index: MPEG-1 and MPEG-2/2.5, layer III
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}


class Mp3Info(NamedTuple):
    """What is in an MP3 file, counted frame by frame. ``extra`` bytes belong to no frame (tags)."""

    frames: int
    duration: float
    samplerate: int
    channels: int
    bitrates: tuple[int, ...]  # bit/s that occur
    extra: int
    has_info_frame: bool  # a Xing, Info or VBRI frame, which names encoder and settings

    @property
    def is_constant(self) -> bool:
        return len(self.bitrates) == 1


class Playable(NamedTuple):
    """An encoded file and its numbers; ``true_peak`` is that of the decoded MP3 (dBFS, None for silence)."""

    data: bytes
    info: Mp3Info
    true_peak: float | None
    lowered: float  # dB by which the ceiling had to go below the first try


def encode_mp3(samples: Samples) -> bytes:
    """Mono samples at 24 kHz as MP3; the same samples give the same bytes."""
    buffer = io.BytesIO()
    with soundfile.SoundFile(
        buffer,
        "w",
        samplerate=RATE,
        channels=1,
        format="MP3",
        subtype="MPEG_LAYER_III",
        compression_level=LEVEL,
        bitrate_mode="CONSTANT",
    ) as file:
        file.write(samples)
    return buffer.getvalue()


def make_playable(samples: Samples, *, ceiling: float = CEILING, known_peak: float | None = None) -> Playable:
    """Encode so that the *decoded* MP3 keeps its true peak at or under ``ceiling`` dBFS.

    ``known_peak`` (dBFS) saves measuring ``samples`` where that has been done.
    """
    lowered = 0.0
    for _ in range(4):
        bounded = samples
        if lowered or known_peak is None or known_peak > ceiling - MARGIN:
            bounded = limit(samples, ceiling - MARGIN - lowered).samples
        data = encode_mp3(bounded)
        peak = true_peak(decode_mp3(data))
        if peak is None or peak <= ceiling:
            break
        lowered += peak - ceiling + 0.2
    return Playable(data, read_mp3(data), peak, lowered)


def decode_mp3(data: bytes) -> Samples:
    """What a player makes of ``data``: mono samples."""
    samples = soundfile.read(io.BytesIO(data), dtype="float32")[0]
    return np.asarray(samples, dtype=np.float32)


def read_mp3(data: bytes) -> Mp3Info:
    """Count the frames of an MP3 file (headers of ISO 11172-3, 13818-3); ``Invalid`` where there are none."""
    at, frames, extra, duration = 0, 0, 0, 0.0
    rate = channels = 0
    bitrates: set[int] = set()
    info = False
    while at + 4 <= len(data):
        head = int.from_bytes(data[at : at + 4], "big")
        version, layer = head >> 19 & 3, head >> 17 & 3
        bit_index, rate_index, padding = head >> 12 & 15, head >> 10 & 3, head >> 9 & 1
        if head >> 21 != 0x7FF or version == 1 or layer != 1 or bit_index in (0, 15) or rate_index == 3:
            at, extra = at + 1, extra + 1
            continue
        first_version = version == 3
        rate = _RATES[version][rate_index]
        bitrate = _BITRATES[first_version][bit_index] * 1000
        samples = 1152 if first_version else 576
        length = samples // 8 * bitrate // rate + padding
        channels = 1 if head >> 6 & 3 == 3 else 2
        if frames == 0:
            info = any(mark in data[at : at + min(length, 64)] for mark in (b"Xing", b"Info", b"VBRI"))
        frames, duration = frames + 1, duration + samples / rate
        bitrates.add(bitrate)
        at += length
    extra += max(0, len(data) - at) if at < len(data) else 0
    if not frames:
        raise Invalid("not_mp3", gettext_noop("There is no MP3 frame in this file."))
    return Mp3Info(frames, duration, rate, channels, tuple(sorted(bitrates)), extra, info)

"""Read what headers claim (WAV, Ogg), so that the claim can be set beside what is there."""

from __future__ import annotations

import io
import os
import struct
from dataclasses import dataclass

_CHUNKS_AFTER_DATA = {b"LIST", b"id3 ", b"ID3 ", b"bext", b"cue ", b"fact", b"JUNK", b"iXML", b"smpl"}


@dataclass(frozen=True)
class WavData:
    """The ``data`` chunk of a WAV file: bytes claimed, bytes present from ``offset`` on, and the format."""

    offset: int
    claimed: int
    present: int
    frame_bytes: int
    unsaid: bool  # the length field holds 0 although sound follows: written to a pipe


def wav_data(handle: int, size: int) -> WavData | None:
    """Find the data chunk of the RIFF file open at ``handle``; None where there is none."""
    head = os.pread(handle, 12, 0)
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE":
        return None
    at = 12
    frame_bytes = 0
    for _ in range(64):
        chunk = os.pread(handle, 8, at)
        if len(chunk) < 8:
            return None
        name, length = struct.unpack("<4sI", chunk)
        at += 8
        if name == b"data":
            present = max(0, size - at)
            unsaid = length == 0 and present > 0 and os.pread(handle, 4, at) not in _CHUNKS_AFTER_DATA
            return WavData(at, length, present, frame_bytes, unsaid)
        if name == b"fmt ":
            body = os.pread(handle, 14, at)
            if len(body) == 14:
                frame_bytes = struct.unpack("<12xH", body)[0]
        at += length + length % 2
    return None


class WithLength(io.RawIOBase):
    """The WAV file open at ``handle``, read as if its header gave the length that is there."""

    def __init__(self, handle: int, data: WavData) -> None:
        super().__init__()
        self._handle, self._at = handle, 0
        self._end = data.offset + data.present
        length = min(data.present, 0xFFFFFF00)
        self._patches = {
            4: struct.pack("<I", length + data.offset - 8),
            data.offset - 4: struct.pack("<I", length),
        }

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        got = bytearray(os.pread(self._handle, len(buffer), self._at))
        for place, patch in self._patches.items():
            for index, value in enumerate(patch, start=place - self._at):
                if 0 <= index < len(got):
                    got[index] = value
        buffer[: len(got)] = bytes(got)
        self._at += len(got)
        return len(got)


def ogg_is_finished(handle: int, size: int) -> bool:
    """Whether the last page of an Ogg file carries the end-of-stream mark (RFC 3533, header type 0x04)."""
    tail = os.pread(handle, 1 << 16, max(0, size - (1 << 16)))
    page = tail.rfind(b"OggS")
    return page >= 0 and len(tail) > page + 5 and bool(tail[page + 5] & 4)

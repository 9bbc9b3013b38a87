"""Open a sound file for reading in blocks: libsndfile for most, ffmpeg in its own process for M4A and WebM.

What a file is, is told by its first bytes, never by its name.
"""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

import numpy as np
import soundfile

from turingsite.audio.headers import WavData, WithLength, ogg_is_finished, wav_data
from turingsite.audio.refusals import EmptyFile, HeaderOnly, NoDecoder, NotAFile, NotAudio, Unreadable
from turingsite.audio.samples import Samples

FFMPEG_SECONDS = 120
# libsndfile also guesses at a dozen old formats from very little; text files are not to be taken for those
READ_BY_SNDFILE = {"WAV", "WAVEX", "RF64", "W64", "FLAC", "MP3", "OGG", "AIFF", "AU", "CAF"}
STREAMED_FROM = 0x7FFF0000  # what programs that write to a pipe put for "unknown": 0x7FFFxxxx to 0xFFFFFFFF


class Source(Protocol):
    """An open recording. ``declared_frames`` is what the header claims, where it claims anything."""

    samplerate: int
    channels: int
    format: str
    subtype: str
    size: int
    floating: bool
    streamed: bool
    broken: bool
    declared_frames: int | None

    def read(self, frames: int) -> Samples: ...


@contextmanager
def open_source(path: Path, *, max_seconds: float) -> Iterator[Source]:
    """Open the file at ``path``; raises :class:`AudioRefused` where it is none of the accepted kinds."""
    try:
        # not blocking: opening a named pipe must not hang
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise NotAFile(path.name) from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise NotAFile(path.name)
        if status.st_size == 0:
            raise EmptyFile()
        head = os.pread(handle, 64, 0)
        container = _ffmpeg_container(head)
        if container is not None:
            demuxer, kind = container
            with _ffmpeg(path, demuxer, kind, status.st_size, max_seconds) as piped:
                yield piped
            return
        os.lseek(handle, 0, os.SEEK_SET)
        with _SndfileSource(handle, status.st_size) as source:
            yield source
    finally:
        os.close(handle)


class _SndfileSource:
    """A file that libsndfile reads."""

    def __init__(self, handle: int, size: int) -> None:
        data = wav_data(handle, size)
        self._file = _open_sndfile(handle, data)
        self.samplerate = self._file.samplerate
        self.channels = self._file.channels
        self.format = self._file.format
        self.subtype = self._file.subtype
        self.size = size
        self.floating = self._file.subtype in ("FLOAT", "DOUBLE")
        self.broken = self._file.format == "OGG" and not ogg_is_finished(handle, size)
        self.streamed = False
        self._ended = False
        self._read = 0
        frames = self._file.frames
        self.declared_frames: int | None = frames if 0 < frames < 1 << 40 else None
        if data is not None:
            self.streamed = data.claimed >= STREAMED_FROM or data.unsaid
            if data.frame_bytes and not self.streamed:
                self.declared_frames = max(data.claimed // data.frame_bytes, frames)
        elif self.declared_frames is None and frames:
            self.streamed = True

    def read(self, frames: int) -> Samples:
        # the buffer is ours: with none given, soundfile sizes it by what the header claims is left
        buffer = np.zeros((frames, self.channels), dtype=np.float32)
        if self._ended:
            return buffer[:0]
        try:
            got: Samples = self._file.read(out=buffer)
            self._read += len(got)
            return got
        except soundfile.LibsndfileError:
            # what came before the damage is in the buffer
            self.broken = self._ended = True
            return buffer[: max(0, self._file.tell() - self._read)]

    def __enter__(self) -> _SndfileSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class _ForwardFile(soundfile.SoundFile):  # type: ignore[misc]  # has no types
    """Read straight on: soundfile seeks after each block, which makes MP3 decoders stumble at every edge."""

    def seekable(self) -> bool:
        return False


def _open_sndfile(handle: int, data: WavData | None) -> _ForwardFile:
    try:
        if data is not None and data.unsaid:
            return _ForwardFile(WithLength(handle, data))
        os.lseek(handle, 0, os.SEEK_SET)
        opened = _ForwardFile(handle, closefd=False)
    except (soundfile.LibsndfileError, ValueError, OverflowError) as error:
        raise (HeaderOnly() if data is not None and data.present == 0 else NotAudio()) from error
    if opened.format not in READ_BY_SNDFILE:
        opened.close()
        raise NotAudio()
    return opened


def _ffmpeg_container(head: bytes) -> tuple[str, str] | None:
    """The demuxer (named outright, so that no playlist is followed) and the kind as people call it."""
    if head[4:8] == b"ftyp":
        return "mov", "M4A"
    if head[:4] == b"\x1aE\xdf\xa3":
        return "matroska", "WebM"
    if head[:2] in (b"\xff\xf1", b"\xff\xf9"):
        return "aac", "AAC"
    return None


def ffmpeg_program() -> str | None:
    """The system's ffmpeg, or the one that the package imageio-ffmpeg carries, or None."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        import imageio_ffmpeg
    except ImportError:
        return None
    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError:
        return None


class _PipedSource:
    """What ffmpeg decodes, read from its standard output as AU: a 24-byte header, then big-endian floats."""

    floating = False
    streamed = False
    declared_frames: int | None = None

    def __init__(
        self, process: subprocess.Popen[bytes], pipe: IO[bytes], complaints: IO[bytes], kind: str, size: int
    ) -> None:
        self._complaints = complaints
        self.format, self.subtype, self.size = kind, kind, size
        self.broken = False
        self._process, self._pipe = process, pipe
        head = pipe.read(24)
        if len(head) < 24 or head[:4] != b".snd":
            raise Unreadable(kind)
        _, offset, _, _, self.samplerate, self.channels = struct.unpack(">4sIIIII", head)
        pipe.read(max(0, offset - 24))
        self._frame_bytes = 4 * self.channels

    def read(self, frames: int) -> Samples:
        data = self._pipe.read(frames * self._frame_bytes)
        whole = len(data) // self._frame_bytes
        if whole < frames and (self._process.wait() != 0 or self._complained()):
            self.broken = True
        flat = np.frombuffer(data, dtype=">f4", count=whole * self.channels)
        return flat.astype(np.float32).reshape(whole, self.channels)

    def _complained(self) -> bool:
        """Whether ffmpeg met the end too soon: it says so, and ends as if all were well."""
        self._complaints.seek(0)
        said = self._complaints.read(10_000).lower()
        return any(word in said for word in (b"prematurely", b"truncat", b"partial file", b"invalid data"))


@contextmanager
def _ffmpeg(path: Path, demuxer: str, kind: str, size: int, max_seconds: float) -> Iterator[_PipedSource]:
    program = ffmpeg_program()
    if program is None:
        raise NoDecoder(kind)
    command = [program, "-nostdin", "-hide_banner", "-loglevel", "error", "-xerror", "-threads", "1"]
    command += ["-protocol_whitelist", "file,pipe", "-f", demuxer, "-i", f"file:{path.absolute()}"]
    command += ["-map", "0:a:0", "-map_metadata", "-1", "-t", str(max_seconds + 1)]
    command += ["-c:a", "pcm_f32be", "-f", "au", "pipe:1"]
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints
        )
        pipe = process.stdout
        if pipe is None:  # cannot be: it was asked for
            raise NoDecoder(kind)
        watchdog = threading.Timer(FFMPEG_SECONDS, process.kill)
        watchdog.start()
        try:
            yield _PipedSource(process, pipe, complaints, kind, size)
        finally:
            watchdog.cancel()
            process.kill()
            process.wait()
            pipe.close()

"""Read a recording of any accepted kind into 24 kHz samples; the decoded length counts, not the header's.

``probe(path) -> Probe`` measures without keeping the sound; ``decode(path) -> Decoded`` keeps it. Both read
in blocks and stop at ``max_seconds``: a file that is hours long, or lies about it, costs no memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from turingsite.audio.refusals import BadRate, EmptyFile, HeaderOnly, TooLong
from turingsite.audio.resample import Resampler
from turingsite.audio.samples import RATE, Samples
from turingsite.audio.sources import Source, open_source
from turingsite.errors import gettext_noop

__all__ = ["MAX_SECONDS", "RATE", "Decoded", "Probe", "Samples", "Warned", "decode", "probe"]

MAX_SECONDS = 900.0
BLOCK_FRAMES = 1 << 17
LOWEST_RATE, HIGHEST_RATE = 4_000, 384_000
FLAT_RUN = 3  # so many equal samples in a row at the top are a cut-off peak, not chance


class Warned(NamedTuple):
    """Something a person should know about a file that is accepted all the same."""

    code: str
    message: str
    params: dict[str, Any] = {}

    def __str__(self) -> str:
        return self.message % self.params if self.params else self.message


@dataclass(frozen=True)
class Probe:
    """What a file really holds. ``duration`` is decoded seconds, ``channels`` as in the file.

    ``clipped`` is the share of samples that lie in cut-off peaks, ``peak`` the largest (1 = full scale).
    """

    duration: float
    samplerate: int
    channels: int
    format: str
    subtype: str
    frames: int
    size: int
    peak: float
    clipped: float
    warnings: tuple[Warned, ...] = ()


@dataclass(frozen=True)
class Decoded:
    """A recording at ``rate``: ``samples`` has shape (n, 1), or (n, 2) where the file had two channels."""

    samples: Samples
    rate: int
    source: Probe

    @property
    def duration(self) -> float:
        return len(self.samples) / self.rate


@dataclass
class _Scan:
    """What is learnt on the way through the blocks."""

    frames: int = 0
    broken_values: int = 0
    peak: float = 0.0
    full_scale: int = 0
    flat: dict[float, int] = field(default_factory=dict)

    def take(self, block: Samples) -> Samples:
        """Count, measure, and return the block with NaN and infinity silenced."""
        self.frames += len(block)
        bad = ~np.isfinite(block)
        if bad.any():
            self.broken_values += int(bad.sum())
            block = np.where(bad, np.float32(0), block)
        top = float(np.abs(block).max(initial=0.0))
        self.peak = max(self.peak, top)
        for channel in block.T:
            self._count_flat(channel, top)
        return block

    def _count_flat(self, channel: Samples, top: float) -> None:
        loud = np.flatnonzero(np.abs(channel) >= max(0.9 * top, 0.02))
        if len(loud) < FLAT_RUN:
            return
        values = channel[loud]
        new_run = np.flatnonzero((np.diff(loud) != 1) | (np.diff(values) != 0)) + 1
        edges = np.concatenate(([0], new_run, [len(loud)]))
        lengths = np.diff(edges)
        for at in np.flatnonzero(lengths >= FLAT_RUN):
            level = round(abs(float(values[edges[at]])), 4)
            self.flat[level] = self.flat.get(level, 0) + int(lengths[at])
        # lossy formats make cut-off peaks wavy: there, a run at full scale counts
        over = np.flatnonzero(np.abs(values) >= 0.999)
        if len(over):
            breaks = np.flatnonzero(np.diff(loud[over]) != 1) + 1
            runs = np.diff(np.concatenate(([0], breaks, [len(over)])))
            self.full_scale += int(runs[runs >= FLAT_RUN].sum())

    def clipped(self, channels: int, *, floating: bool) -> float:
        flat = sum(count for level, count in self.flat.items() if level >= 0.97 * self.peak)
        # float files may go beyond full scale without any harm done
        count = flat if floating else max(flat, self.full_scale)
        return count / max(1, self.frames * channels)


def probe(path: str | os.PathLike[str], *, max_seconds: float = MAX_SECONDS) -> Probe:
    """Measure the file at ``path`` by decoding it, keeping nothing.

    Raises :class:`turingsite.audio.refusals.AudioRefused` (a ``DomainError``) where it cannot be used.
    """
    scan = _Scan()
    with open_source(Path(path), max_seconds=max_seconds) as source:
        for _ in _blocks(source, scan, max_seconds):
            pass
        return _probe(source, scan)


def decode(path: str | os.PathLike[str], *, max_seconds: float = MAX_SECONDS) -> Decoded:
    """Read the file at ``path`` into float32 at 24 kHz: two channels stay two, more are mixed to one.

    Samples beyond ±1 (float files) are kept as they are. Raises like :func:`probe`.
    """
    scan = _Scan()
    with open_source(Path(path), max_seconds=max_seconds) as source:
        resampler = Resampler(_checked_rate(source), RATE)
        parts: list[Samples] = []
        for block in _blocks(source, scan, max_seconds):
            if block.shape[1] > 2:
                block = block.mean(axis=1, keepdims=True, dtype=np.float32)
            parts.extend(resampler.push(block))
        result = _probe(source, scan)
    parts.extend(resampler.finish())
    return Decoded(samples=np.concatenate(parts), rate=RATE, source=result)


def _blocks(source: Source, scan: _Scan, max_seconds: float) -> Iterator[Samples]:
    limit = max_seconds * _checked_rate(source)
    while len(block := source.read(BLOCK_FRAMES)):
        if scan.frames + len(block) > limit:
            raise TooLong(max_seconds)
        yield scan.take(block)
    if not scan.frames:
        raise HeaderOnly() if source.size else EmptyFile()


def _checked_rate(source: Source) -> int:
    if not LOWEST_RATE <= source.samplerate <= HIGHEST_RATE:
        raise BadRate(source.samplerate)
    return source.samplerate


def _probe(source: Source, scan: _Scan) -> Probe:
    duration = scan.frames / source.samplerate
    return Probe(
        duration=duration,
        samplerate=source.samplerate,
        channels=source.channels,
        format=source.format,
        subtype=source.subtype,
        frames=scan.frames,
        size=source.size,
        peak=scan.peak,
        clipped=scan.clipped(source.channels, floating=source.floating),
        warnings=tuple(_warnings(source, scan, duration)),
    )


def _warnings(source: Source, scan: _Scan, duration: float) -> Iterator[Warned]:
    length = {"seconds": round(duration, 2)}
    if source.streamed:
        yield Warned(
            "streamed_header",
            gettext_noop("The file's header gives no true length; decoded, it is %(seconds)s s long."),
            length,
        )
    elif source.broken or (source.declared_frames or 0) > scan.frames:
        claimed = (source.declared_frames or 0) / source.samplerate
        if claimed > duration:
            yield Warned(
                "truncated",
                gettext_noop("The file stops early: %(claimed)s s were announced, %(seconds)s s are there."),
                {**length, "claimed": round(claimed, 2)},
            )
        else:
            yield Warned(
                "damaged",
                gettext_noop("Part of the file is damaged; the %(seconds)s s that can be read are used."),
                length,
            )
    if source.channels > 2:
        yield Warned(
            "many_channels",
            gettext_noop("The file has %(channels)s channels; they are mixed into one."),
            {"channels": source.channels},
        )
    if scan.broken_values:
        yield Warned(
            "broken_values",
            gettext_noop("%(count)s samples are not numbers; they are silenced."),
            {"count": scan.broken_values},
        )

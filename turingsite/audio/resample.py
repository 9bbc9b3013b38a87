"""Resample block by block with the result that one pass over the whole would give."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, gcd
from typing import Any

import numpy as np

from turingsite.audio.samples import Samples

CHUNK_SECONDS = 30


class Resampler:
    """Polyphase resampling (scipy ``resample_poly``, Kaiser 5.0) of a stream of (n, channels) blocks."""

    def __init__(self, rate_in: int, rate_out: int) -> None:
        from scipy import signal  # here: only sound needs it, and it costs every process a third of its start

        common = gcd(rate_in, rate_out)
        self.up, self.down = rate_out // common, rate_in // common
        widest = max(self.up, self.down)
        # an array is a documented window, though the stubs do not list it
        self._window: Any = None
        if widest > 1:
            taps = signal.firwin(20 * widest + 1, 1 / widest, window=("kaiser", 5.0))
            self._window = taps.astype(np.float32)
        # context on either side, a multiple of `down` so that outputs of neighbouring chunks line up
        self._context = ceil((10 * widest / self.up + 1) / self.down) * self.down
        self._chunk = ceil(CHUNK_SECONDS * rate_in / self.down) * self.down
        self._held: list[Samples] = []
        self._held_frames = 0
        self._before = 0  # frames at the start of what is held that are only context

    def push(self, block: Samples) -> Iterator[Samples]:
        """Take a block; yield what can be finished."""
        if self.up == self.down:
            yield block
            return
        self._held.append(block)
        self._held_frames += len(block)
        while self._held_frames - self._before >= self._chunk + self._context:
            held = self._joined()
            upto = self._before + self._chunk
            yield self._convert(held[: upto + self._context], self._chunk * self.up // self.down)
            keep = held[upto - self._context :]
            self._held, self._held_frames, self._before = [keep], len(keep), self._context

    def finish(self) -> Iterator[Samples]:
        """Yield the rest."""
        rest = self._held_frames - self._before
        if rest > 0:
            yield self._convert(self._joined(), ceil(rest * self.up / self.down))
        self._held, self._held_frames, self._before = [], 0, 0

    def _joined(self) -> Samples:
        return self._held[0] if len(self._held) == 1 else np.concatenate(self._held)

    def _convert(self, held: Samples, wanted: int) -> Samples:
        from scipy import signal

        start = self._before * self.up // self.down
        result: Samples = signal.resample_poly(held, self.up, self.down, axis=0, window=self._window)
        return result[start : start + wanted]

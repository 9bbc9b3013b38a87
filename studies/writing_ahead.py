"""Writing in a thread of its own: blocks are hashed and pressed while the next ones are on their way."""

from __future__ import annotations

import queue
import threading
from types import TracebackType
from typing import Any, Protocol

#: Blocks that may wait; the sender waits beyond that, so memory stays flat.
WAITING = 8


class Sink(Protocol):
    def write(self, data: Any) -> int: ...


class WritingAhead:
    """Hands blocks to ``below`` in order. What goes wrong there is raised at the next write or at the end."""

    def __init__(self, below: Sink) -> None:
        self._below = below
        self._blocks: queue.Queue[bytes | None] = queue.Queue(WAITING)
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="writing-ahead", daemon=True)

    def __enter__(self) -> WritingAhead:
        self._thread.start()
        return self

    def write(self, data: bytes) -> None:
        if self._problem is not None:
            raise self._problem
        self._blocks.put(data)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._blocks.put(None)
        self._thread.join()
        if problem is None and self._problem is not None:
            raise self._problem

    def _run(self) -> None:
        while (data := self._blocks.get()) is not None:
            if self._problem is None:  # after a problem the rest is only taken off the queue
                try:
                    self._below.write(data)
                except BaseException as problem:  # noqa: BLE001  (raised again by the one who writes)
                    self._problem = problem

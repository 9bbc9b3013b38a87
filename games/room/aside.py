"""Database work beside the event loop: a few threads that keep a connection only while there is work."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

from django.db import InterfaceError, OperationalError, connections

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

THREADS = 4  # connections a process has at most for its rooms
KEPT = 2.0  # seconds without work after which a thread gives its connection back


class _Job(NamedTuple):
    work: Callable[..., Any]
    given: tuple[Any, ...]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]


class _Hand(threading.Thread):
    """One of the threads. ``said``: what its work wants done in the loop, just before its answer."""

    def __init__(self, aside: Aside, number: int) -> None:
        super().__init__(name=f"room-{number}", daemon=True)
        self.jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self.said: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self._aside = aside

    def run(self) -> None:
        while (job := self._next()) is not None:
            try:
                result = _done(job)
            except BaseException as problem:  # noqa: BLE001  (raised again by the one who asked)
                self._answer(job, job.answer.set_exception, problem)
            else:
                self._answer(job, job.answer.set_result, result)
        connections.close_all()

    def _next(self) -> _Job | None:
        waiting = self._aside.next_for(self)
        if waiting is not None:
            return waiting
        try:
            return self.jobs.get(timeout=KEPT)
        except Empty:
            connections.close_all()
            return self.jobs.get()

    def _answer(self, job: _Job, how: Callable[[Any], None], what: Any) -> None:
        said, self.said = self.said, []

        def tell() -> None:
            for act, given in said:
                act(*given)
            if not job.answer.done():  # who asked may have gone
                how(what)

        with suppress(RuntimeError):  # the loop is closed
            job.loop.call_soon_threadsafe(tell)


class Aside:
    """Runs what reads or writes rows, so that the event loop never waits for the database.

    Cheaper than ``sync_to_async``, which makes or looks over a connection for every call. The thread that was
    busy last is the next one to work: one connection does for most of the time.
    """

    def __init__(self, threads: int = THREADS) -> None:
        self._most = threads
        self._lock = threading.Lock()
        self._hands: list[_Hand] = []
        self._idle: list[_Hand] = []
        self._waiting: deque[_Job] = deque()

    async def run(self, work: Callable[[*Ts], T], *given: *Ts) -> T:
        """What ``work(*given)`` returns or raises. Where the connection was cut it is made anew and the work
        done again: what is done here must be right to do twice.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        job = _Job(work, given, loop, answer)
        with self._lock:
            if self._idle:
                self._idle.pop().jobs.put(job)
            else:
                self._waiting.append(job)
                if len(self._hands) < self._most:
                    hand = _Hand(self, len(self._hands))
                    self._hands.append(hand)
                    hand.start()
        return await answer

    def next_for(self, hand: _Hand) -> _Job | None:
        """What waits; None where ``hand`` may wait itself."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            if hand in self._hands:  # else it has been told to stop
                self._idle.append(hand)
            return None

    def stop(self) -> None:
        """Finish what was asked for and give all connections back."""
        with self._lock:
            hands, self._hands, self._idle = self._hands, [], []
        for hand in hands:
            hand.jobs.put(None)
        for hand in hands:
            hand.join()


def in_loop(loop: asyncio.AbstractEventLoop, act: Callable[[*Ts], object], *given: *Ts) -> None:
    """Call ``act(*given)`` in the loop, from any thread. From within ``run`` it comes just before the answer,
    so that the loop is woken once. RuntimeError where the loop is closed.
    """
    hand = threading.current_thread()
    if isinstance(hand, _Hand):
        hand.said.append((act, given))
    else:
        loop.call_soon_threadsafe(act, *given)


def _done(job: _Job) -> Any:
    try:
        return job.work(*job.given)
    except (InterfaceError, OperationalError):
        connections.close_all()  # the server was started anew, or cut us off
        return job.work(*job.given)


aside = Aside()
run = aside.run

"""Database work beside the event loop: a few threads that keep a connection only while there is work."""

from __future__ import annotations

import asyncio
import threading
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
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]


class Aside:
    """Runs what reads or writes rows, so that the event loop never waits for the database.

    Cheaper than ``sync_to_async``, which makes or looks over a connection for every call.
    """

    def __init__(self, threads: int = THREADS) -> None:
        self._most = threads
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    async def run(self, work: Callable[[*Ts], T], *given: *Ts) -> T:
        """What ``work(*given)`` returns or raises. Where the connection was cut it is made anew and the work
        done again: what is done here must be right to do twice.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        if len(self._threads) < self._most:
            self._add_thread()
        self._jobs.put(_Job(lambda: work(*given), loop, answer))
        return await answer

    def stop(self) -> None:
        """Finish what was asked for and give all connections back."""
        with self._lock:
            threads, self._threads = self._threads, []
        for _ in threads:
            self._jobs.put(None)
        for thread in threads:
            thread.join()

    def _add_thread(self) -> None:
        with self._lock:
            thread = threading.Thread(target=self._work, name=f"room-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                result = _done(job.work)
            except BaseException as problem:  # noqa: BLE001  (raised again by the one who asked)
                _tell(job, job.answer.set_exception, problem)
            else:
                _tell(job, job.answer.set_result, result)
        connections.close_all()

    def _next(self) -> _Job | None:
        try:
            return self._jobs.get(timeout=KEPT)
        except Empty:
            connections.close_all()
            return self._jobs.get()


def _done(work: Callable[[], T]) -> T:
    try:
        return work()
    except (InterfaceError, OperationalError):
        connections.close_all()  # the server was started anew, or cut us off
        return work()


def _tell(job: _Job, how: Callable[[Any], None], what: Any) -> None:
    def tell() -> None:
        if not job.answer.done():  # who asked may have gone
            how(what)

    with suppress(RuntimeError):  # the loop is closed
        job.loop.call_soon_threadsafe(tell)


aside = Aside()
run = aside.run

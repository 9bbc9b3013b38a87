"""The runner: claims games and calls for bots, and gives each its turn when it is due.

A game that waits is an entry in a list: it holds no thread and no connection. So one runner plays as many
games at once as its database can answer; threads bound only how many think at the same moment.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from django.db import DatabaseError, connection
from django.utils import timezone

from games.group.agent import claims, trace
from games.group.agent.beside import Beside, beside
from games.group.agent.calling import Calls, SendBots
from games.group.agent.loop import Play
from games.group.agent.trace import Lost

logger = logging.getLogger("turingsite.agents")

THREADS = 32  # that may think at once
MOST_GAMES = 500
LONGEST_WAIT = 30.0  # seconds after failures in a row
GRACE = 5.0  # seconds for turns that run when the runner stops
TIDY = 30.0  # seconds between two looks for what killed runners left open
BEAT = 10.0  # seconds between two signs of life


class Lane(Protocol):
    """Something with turns: the talk of a game, one of its workers. Each says when the next is due."""

    def begin(self, failure: BaseException | None = None) -> float | None: ...

    def turn(self) -> float | None: ...


@dataclass(eq=False)
class Entry:
    """A lane in the list. ``failures`` in a row; ``failure``: the last turn's, after which it begins anew."""

    play: Play
    lane: Lane
    begun: bool = False
    failures: int = 0
    failure: BaseException | None = None
    workers: Sequence[Beside] = ()  # that are to begin now

    def run(self) -> float | None:
        """The next turn, in a thread of the pool."""
        try:
            if self.begun and self.failure is None:
                return self.lane.turn()
            seconds = self.lane.begin(self.failure)
            if not self.begun and self.lane is self.play and seconds is not None:
                self.workers = beside(self.play)
            self.begun, self.failure = True, None
            return seconds
        finally:
            connection.close()


Done = tuple[Entry, Future[float | None]]


class Runner:
    """One per process. ``beat``: called every few seconds while it works. ``send_bots``: runs a call."""

    def __init__(
        self,
        *,
        send_bots: SendBots | None = None,
        beat: Callable[[], None] | None = None,
        threads: int = THREADS,
        most: int = MOST_GAMES,
    ) -> None:
        self.name = claims.new_name()
        self.plays: dict[int, Play] = {}
        self._most, self._beat = most, beat
        self._calls = Calls(self.name, send_bots) if send_bots is not None else None
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="agent")
        self._due: list[tuple[float, int, Entry]] = []
        self._order = itertools.count()
        self._done: queue.SimpleQueue[Done | None] = queue.SimpleQueue()
        self._running = 0
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Run in a thread of its own."""
        self._thread = threading.Thread(target=self.run, name="agents", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = 2 * GRACE) -> None:
        """Ask it to stop, from any thread or a signal, and wait where it has its own thread."""
        self._stopping.set()
        self._done.put(None)
        if self._thread is not None:
            self._thread.join(seconds)

    def run(self) -> None:
        """Until ``stop``. What it played is free for others when this returns."""
        logger.info("event=agents_started runner=%s", self.name)
        care = beat = tidied = 0.0
        while not self._stopping.is_set():
            now = time.monotonic()
            if now >= care:
                self._care()
                care = time.monotonic() + claims.RENEW
            if self._beat is not None and now >= beat:
                self._beat()
                beat = now + BEAT
            if now >= tidied:
                self._tidy()
                tidied = now + TIDY
            self._send_due()
            self._collect(min([care, *(due for due, _n, _entry in self._due[:1])]))
        self._end()

    def _care(self) -> None:
        """Renew what is ours, forget what is not any more, take what nobody has."""
        now = timezone.now()
        try:
            own = claims.renew_games(runner=self.name, games=list(self.plays), now=now)
            self.plays = {key: play for key, play in self.plays.items() if own.get(key) == play.claim}
            free = self._most - len(self.plays)
            taken = claims.claim_games(runner=self.name, turn=next(self._order), most=free, now=now)
            for game_id, claim in taken.items():
                play = self.plays[game_id] = Play(game_id, claim)
                self._put(Entry(play, play), 0.0)
                logger.info("event=agent_sits_down game=%s claim=%s", game_id, claim)
            if self._calls is not None:
                self._calls.care(now)
        except DatabaseError as problem:
            logger.warning("event=agents_wait error=%s", type(problem).__name__)
        finally:
            connection.close()

    def _tidy(self) -> None:
        try:
            trace.close_leftovers(now=timezone.now())
        except DatabaseError as problem:
            logger.warning("event=agents_wait error=%s", type(problem).__name__)
        finally:
            connection.close()

    def _put(self, entry: Entry, seconds: float) -> None:
        heapq.heappush(self._due, (time.monotonic() + seconds, next(self._order), entry))

    def _send_due(self) -> None:
        while self._due and self._due[0][0] <= time.monotonic():
            entry = heapq.heappop(self._due)[2]
            if self.plays.get(entry.play.game_id) is entry.play:
                self._running += 1
                future = self._pool.submit(entry.run)
                future.add_done_callback(partial(self._tell, entry))

    def _tell(self, entry: Entry, done: Future[float | None]) -> None:
        self._done.put((entry, done))

    def _collect(self, until: float) -> None:
        """Wait for turns that end, until the next one is due at the latest."""
        with contextlib.suppress(queue.Empty):
            self._settle(self._done.get(timeout=max(until - time.monotonic(), 0.0)))
            while True:
                self._settle(self._done.get_nowait())

    def _settle(self, done: Done | None) -> None:
        """Put a lane whose turn has ended back into the list, or let it go."""
        if done is None:
            return
        entry, future = done
        self._running -= 1
        failure = future.exception()
        if isinstance(failure, Lost):
            self._let_go(entry)
        elif failure is not None:
            entry.failures += 1
            entry.failure = failure
            self._put(entry, min(LONGEST_WAIT, 0.5 * 2**entry.failures))
            logger.error("event=agent_failed game=%s", entry.play.game_id, exc_info=failure)
        elif (seconds := future.result()) is None:
            self._let_go(entry)
            logger.info("event=agent_done game=%s", entry.play.game_id)
        else:
            entry.failures = 0
            self._put(entry, seconds)
            for worker in entry.workers:
                self._put(Entry(entry.play, worker, begun=True), 0.0)
            entry.workers = ()

    def _let_go(self, entry: Entry) -> None:
        if self.plays.get(entry.play.game_id) is entry.play:
            del self.plays[entry.play.game_id]

    def _end(self) -> None:
        """Let turns that run end; one that does not is kept from writing, as its game is free for others."""
        end = time.monotonic() + GRACE
        while self._running and time.monotonic() < end:
            self._collect(time.monotonic() + 0.1)
        self._pool.shutdown(wait=False, cancel_futures=True)
        try:
            claims.free_games(runner=self.name)
            if self._calls is not None:
                self._calls.stop()
        except DatabaseError as problem:
            logger.warning("event=agents_wait error=%s", type(problem).__name__)
        finally:
            connection.close()
        logger.info("event=agents_stopped runner=%s", self.name)

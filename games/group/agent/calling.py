"""Calls for bots in a runner: each in a thread of its own, claimed, renewed and noted by the runner."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime
from functools import partial
from typing import NamedTuple

from django.db import connection
from django.utils import timezone

from games.group.agent import claims
from games.group.models import BotCall

logger = logging.getLogger("turingsite.agents")

AT_ONCE = 4
PATIENCE = 5.0  # seconds for bots to go home when the runner stops

#: ``(call, stopped)``: sends the bots of a call, returns what they found wrong.
SendBots = Callable[[BotCall, Callable[[], bool]], list[str]]


class Running(NamedTuple):
    stop: threading.Event
    found: Future[list[str]]


class Calls:
    """Those that this runner has claimed. All but the bots runs in the runner's thread."""

    def __init__(self, runner: str, send_bots: SendBots) -> None:
        self.runner, self._send_bots = runner, send_bots
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="bots")
        self._running: dict[int, Running] = {}

    def care(self, now: datetime) -> None:
        """Note what has ended, renew what runs, take what waits."""
        self._note_ended(now)
        own = claims.renew_calls(runner=self.runner, calls=list(self._running), now=now)
        for call_id in set(self._running) - own:
            self._running.pop(call_id).stop.set()
        claims.end_lost_calls(now)
        while len(self._running) < AT_ONCE:
            call = claims.claim_call(runner=self.runner, now=now)
            if call is None:
                return
            stop = threading.Event()
            found = self._pool.submit(partial(_send, self._send_bots, call, stop.is_set))
            self._running[call.pk] = Running(stop, found)
            logger.info("event=bots_sent call=%s bots=%s", call.pk, call.bots)

    def stop(self) -> None:
        """Send the bots home; their calls have failed."""
        now = timezone.now()
        self._note_ended(now)
        for call_id, running in self._running.items():
            running.stop.set()
            claims.finish_call(
                call_id=call_id, runner=self.runner, findings=[claims.STOPPED], failed=True, now=now
            )
        wait([running.found for running in self._running.values()], timeout=PATIENCE)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _note_ended(self, now: datetime) -> None:
        for call_id, running in list(self._running.items()):
            if not running.found.done():
                continue
            failure = running.found.exception()
            findings = [f"{type(failure).__name__}: {failure}"] if failure else running.found.result()
            claims.finish_call(
                call_id=call_id, runner=self.runner, findings=findings, failed=failure is not None, now=now
            )
            del self._running[call_id]
            if failure is not None:
                logger.error("event=bots_failed call=%s", call_id, exc_info=failure)


def _send(send_bots: SendBots, call: BotCall, stopped: Callable[[], bool]) -> list[str]:
    try:
        return send_bots(call, stopped)
    finally:
        connection.close()

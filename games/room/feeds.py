"""A room's lines on their way to the sockets of this process: in order, each once, none left out.

Everything here runs in the event loop. Rows are the truth: what did not come by itself is read from them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import DatabaseError

from games.room import aside
from games.room.readings import Line, StateOf, lines_after

KEPT = 128  # newest lines of a room that sockets are served from without reading rows
LONGEST = 64  # frames that wait for one socket; a slower one reads rows when it is through
AGAIN = 1.0  # seconds until rows that could not be read are tried again

log = logging.getLogger("turingsite.room")

Send = Callable[[str], Awaitable[None]]


class Clock(NamedTuple):
    """What a room's clock was when rows were last looked at."""

    phase_number: int
    deadline: datetime | None


class Feed:
    """One room in this process. ``last``: number of the newest line handed on; None until rows were read."""

    def __init__(self, room_id: int) -> None:
        self.room_id = room_id
        self.links: set[Link] = set()
        self.last: int | None = None
        self.known = 0  # the newest number that was heard of
        self.is_stale = False  # something was told after which every page needs its state anew
        self.clock: Clock | None = None
        self.clock_at = 0.0  # when pages were last told, by the loop's time
        self._early: dict[int, Line] = {}  # came before their turn
        self._recent: deque[Line] = deque(maxlen=KEPT)

    @property
    def lags(self) -> bool:
        """Whether there are lines that did not come by themselves, as far as is known."""
        return self.last is not None and self.known > self.last

    def offer(self, line: Line) -> None:
        """A line that was announced, in whatever order they are."""
        self.known = max(self.known, line.seq)
        if self.last is None or line.seq > self.last:
            self._early[line.seq] = line
            self._go_on()

    def learn(self, lines: Sequence[Line], after: int) -> None:
        """What rows say comes after number ``after``."""
        if self.last is None:
            self.last = after
            self._early = {seq: line for seq, line in self._early.items() if seq > after}
        for line in lines:
            self.offer(line)
        self._go_on()

    def since(self, seq: int) -> Sequence[Line] | None:
        """The lines after ``seq``; None where rows have to be read for them."""
        if self.last is None:
            return None
        missing = self.last - seq
        if missing <= 0:
            return ()
        if missing > len(self._recent):
            return None
        return list(self._recent)[-missing:]

    def push(self, text: str, but: Link | None = None) -> None:
        """Something without a number, for every page."""
        for link in self.links:
            if link is not but:
                link.push(text)

    def _go_on(self) -> None:
        if self.last is None:
            return
        while (line := self._early.pop(self.last + 1, None)) is not None:
            self.last = line.seq
            self._recent.append(line)
            self.is_stale |= not line.is_message
            for link in self.links:
                link.hand(line)


class Link:
    """One socket. ``sent``: number of the last line on its way; with ``is_live`` all later ones follow by
    themselves, otherwise ``write`` reads up first.
    """

    def __init__(self, feed: Feed, seat_id: int, code: str, send: Send) -> None:
        self.feed = feed
        self.seat_id = seat_id
        self.code = code
        self.sent = 0
        self.may_read = self.may_write = self.tells_typing = False
        self.is_live = False
        self._is_dismissed = False
        self._send = send
        self._frames: deque[str] = deque()
        self._waiter: asyncio.Future[None] | None = None  # of ``write``, while there is nothing to send

    def begin(self, after: int, state: StateOf) -> None:
        """The page has the lines up to ``after``; a number nobody reached counts as none."""
        self.sent = after if after <= state.last_seq else 0
        self.push_state(state)

    def hand(self, line: Line) -> None:
        if not self.is_live or line.seq <= self.sent:
            return
        if len(self._frames) >= LONGEST or not self.may_read:
            self.is_live = False
            return
        self.sent = line.seq
        self._frames.append(line.text)
        self._wake()

    def push(self, text: str) -> None:
        """A frame without a number. Who is far behind misses it: their state comes with what they missed."""
        if len(self._frames) < LONGEST:
            self._frames.append(text)
            self._wake()

    def push_state(self, state: StateOf) -> None:
        self.may_read, self.may_write, self.tells_typing = state.may_read, state.may_write, state.typing
        self._frames.append(state.text)
        self._wake()

    def dismiss(self) -> None:
        """Nobody sits here any more: ``write`` ends."""
        self._is_dismissed = True
        self._wake()

    async def write(self) -> None:
        """Send what is there, as fast as the socket takes it, until dismissed."""
        while not self._is_dismissed:
            while self._frames:
                await self._send(self._frames.popleft())
            if self.may_read and not self.is_live:
                await self._read_up()
            elif not self._is_dismissed:
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def _read_up(self) -> None:
        lines = self.feed.since(self.sent)
        if lines is not None:
            self._frames.extend(line.text for line in lines)
            self.sent = max(self.sent, self.feed.last or 0)
            self.is_live = True
            return
        try:
            lines = await aside.run(lines_after, self.feed.room_id, self.sent)
        except DatabaseError as error:
            log.warning("event=room_rows_failed work=lines_after", exc_info=error)
            await asyncio.sleep(AGAIN)
            return
        self.feed.learn(lines, self.sent)
        # Rows that had none say nothing of what is sent: a line that came by itself meanwhile is still to go.
        if not lines and self.feed.since(self.sent) is None:
            await asyncio.sleep(AGAIN)
        for line in lines:
            await self._send(line.text)
            self.sent = line.seq

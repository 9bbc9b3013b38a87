"""Brings what is committed to the sockets of this process, and to those of others through Redis if it is set.

``announce``, ``dismiss`` and ``typing`` may be called from any thread of any process, after the commit; they
never wait and never fail. Rows are the truth: whatever gets lost on the way is read from them within a second
(``games.room.keeping``).
"""

from __future__ import annotations

import asyncio
import json
from typing import NamedTuple

from prometheus_client import Counter, Gauge

from games.room import aside
from games.room.feeds import Feed, Link, Send
from games.room.models import Event
from games.room.presenters import Spoken
from games.room.readings import Line, encoded, line_of, states_of
from games.room.relay import Relay

SOCKETS = Gauge("turingsite_room_sockets", "Open sockets in rooms", multiprocess_mode="livesum")
LINES = Counter("turingsite_room_lines", "Lines of rooms' logs announced by this process")
ELSEWHERE = Counter("turingsite_room_lines_elsewhere", "Lines of rooms' logs heard from other processes")


class News(NamedTuple):
    """What processes tell each other. ``last_seq``: of what there is; ``line`` where it is at hand."""

    what: str  # grown, typing, dismissed
    room_id: int
    last_seq: int = 0
    line: Line | None = None
    seat: str = ""

    def written(self) -> str:
        head = [self.what, self.room_id, self.last_seq, self.seat]
        if self.line is not None:
            head.append(self.line.is_message)
        return f"{json.dumps(head)}\n{self.line.text if self.line else ''}"

    @classmethod
    def read(cls, text: str) -> News:
        """ValueError for what ``written`` never wrote."""
        head, _, frame = text.partition("\n")
        what, room_id, last_seq, seat, *is_message = json.loads(head)
        line = Line(last_seq, is_message[0], frame) if is_message else None
        return cls(what, room_id, last_seq, line, seat)


class Hub:
    """The rooms that have sockets in this process. All but ``tell`` runs in the event loop."""

    def __init__(self) -> None:
        self.feeds: dict[int, Feed] = {}
        self.hurry = asyncio.Event()  # rows should be looked at now
        self.relay = Relay()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def links(self) -> list[Link]:
        return [link for feed in self.feeds.values() for link in feed.links]

    def join(self, *, room_id: int, seat_id: int, code: str, send: Send) -> Link:
        """A socket of that seat; it gets nothing before its ``begin``."""
        self._loop = asyncio.get_running_loop()
        feed = self.feeds.get(room_id)
        if feed is None:
            feed = self.feeds[room_id] = Feed(room_id)
            feed.clock_at = self._loop.time()
        link = Link(feed, seat_id, code, send)
        feed.links.add(link)
        SOCKETS.inc()
        return link

    def leave(self, link: Link) -> None:
        SOCKETS.dec()
        link.feed.links.discard(link)
        if not link.feed.links:
            self.feeds.pop(link.feed.room_id, None)

    def tell(self, news: News) -> None:
        """Here at once, elsewhere through Redis. From any thread."""
        if news.room_id in self.feeds and self._loop is not None:
            try:
                aside.in_loop(self._loop, self.take, news)
            except RuntimeError:
                self._loop = None  # closed; there are no sockets any more
        self.relay.publish(news)

    def take(self, news: News) -> None:
        """Something new, from this process or another."""
        feed = self.feeds.get(news.room_id)
        if feed is None:
            return
        if news.what == "typing":
            text = encoded({"type": "typing", "seat": news.seat})
            for link in feed.links:
                if link.code != news.seat and link.may_read:
                    link.push(text)
        elif news.what == "dismissed":
            for link in feed.links:
                if link.code == news.seat:
                    link.dismiss()
        elif news.line is not None:
            feed.offer(news.line)
        else:
            feed.known = max(feed.known, news.last_seq)
        self.follow_up(feed)

    def follow_up(self, feed: Feed) -> None:
        """See to what the newest lines made necessary."""
        if feed.lags:
            self.hurry.set()
        if feed.is_stale:
            feed.is_stale = False
            task = asyncio.get_running_loop().create_task(self._refresh(feed))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _refresh(self, feed: Feed) -> None:
        """Tell every page of the room its state anew."""
        links = list(feed.links)
        states = await aside.run(states_of, {link.seat_id for link in links})
        for link in links:
            if link.seat_id in states:
                link.push_state(states[link.seat_id])


hub = Hub()


def announce(room_id: int, last_seq: int, event: Event | Spoken | None = None) -> None:
    """The log has grown up to ``last_seq``. ``event``: the newest line where it is at hand, its seat too."""
    LINES.inc()
    if room_id not in hub.feeds and not hub.relay.url:
        return  # nobody listens
    hub.tell(News("grown", room_id, last_seq, line_of(event) if event is not None else None))


def dismiss(room_id: int, seat_code: str) -> None:
    """The seat's person has left or was removed: their open pages are sent on."""
    hub.tell(News("dismissed", room_id, seat=seat_code))


def typing(room_id: int, seat_code: str) -> None:
    """Somebody writes: the others may be told for a moment. Nothing is kept."""
    hub.tell(News("typing", room_id, seat=seat_code))

"""What every server process does beside its pages: the rooms' clock, and looking at rows each second for what
did not come by itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from django.utils import timezone

from games.room import aside
from games.room.feeds import Clock, Feed
from games.room.hub import ELSEWHERE, Hub, News, hub
from games.room.readings import RoomNow, encoded, no_longer_there, rooms_now
from games.room.selectors import rooms_overdue
from games.room.services import advance, note_seen

log = logging.getLogger("turingsite.room")

CLOCK = 0.5  # seconds between two looks for phases that should have ended
LOOK = 1.0  # seconds between two looks at rows, and less when something is known to be missing
SOON = 0.05  # seconds a missing line may still come by itself
GONE = 2.0  # seconds between two looks for people who have left
SEEN = 8.0  # seconds between two notes of whose page is open
TOLD = 10.0  # seconds between two clocks on a page
AGAIN = 60.0  # seconds between two lines in the log about the same trouble


@asynccontextmanager
async def keeping() -> AsyncIterator[Hub]:
    """The rooms of this process, for as long as the context lasts."""
    hub.hurry = asyncio.Event()
    duties = [_again_and_again("clock", _move_on, CLOCK), _again_and_again("look", _look, LOOK)]
    duties += [_again_and_again("seen", _note_seen, SEEN), _again_and_again("gone", _send_on, GONE)]
    if hub.relay.url:
        duties.append(hub.relay.listen(_hear))
    tasks = [asyncio.ensure_future(duty) for duty in duties]
    try:
        yield hub
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        hub.feeds.clear()
        await asyncio.to_thread(aside.aside.stop)


async def _again_and_again(name: str, duty: Callable[[], Awaitable[object]], seconds: float) -> None:
    """Do it for ever. A failure is told in the log, and the next time comes all the same: no room waits for
    ever because something broke once.
    """
    told_at: float | None = None
    loop = asyncio.get_running_loop()
    while True:
        with suppress(TimeoutError):
            if name == "look":
                await asyncio.wait_for(hub.hurry.wait(), seconds)
                await asyncio.sleep(SOON)
            else:
                await asyncio.sleep(seconds)
        task = asyncio.ensure_future(duty())
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            raise
        problem = task.exception()
        if problem is not None and (told_at is None or loop.time() - told_at > AGAIN):
            told_at = loop.time()
            log.error("event=room_duty_failed duty=%s", name, exc_info=problem)


async def _move_on() -> None:
    """End the phases whose time is up, each by itself: no room waits for another."""
    overdue = await aside.run(_overdue)
    moves = (aside.run(_advance, room_id, number) for room_id, number in overdue)
    for result in await asyncio.gather(*moves, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


def _overdue() -> list[tuple[int, int]]:
    return rooms_overdue(timezone.now())


def _advance(room_id: int, phase_number: int) -> bool:
    return advance(room_id=room_id, phase_number=phase_number, now=timezone.now())


async def _note_seen() -> None:
    seats = {link.seat_id for link in hub.links}
    if seats:
        await aside.run(lambda: note_seen(seat_ids=seats, now=timezone.now()))


async def _look() -> None:
    """Read what rows have that pages have not, one query for all rooms of this process."""
    hub.hurry.clear()
    known = {feed.room_id: feed.last for feed in hub.feeds.values() if feed.last is not None}
    if not known:
        return
    now = await aside.run(rooms_now, known)
    for room_id, room in now.items():
        feed = hub.feeds.get(room_id)
        if feed is not None and feed.last is not None:
            feed.learn(room.lines, known[room_id])
            _tell_the_time(feed, room)
            hub.follow_up(feed)


async def _send_on() -> None:
    """Whose leaving was not heard of by itself."""
    seats = {link.seat_id for link in hub.links}
    gone = await aside.run(no_longer_there, seats) if seats else set()
    for link in hub.links:
        if link.seat_id in gone:
            link.dismiss()


def _tell_the_time(feed: Feed, room: RoomNow) -> None:
    """Every some seconds, and at once where the clock was set anew."""
    at = asyncio.get_running_loop().time()
    clock = Clock(room.phase_number, room.deadline)
    if clock == feed.clock and at - feed.clock_at < TOLD:
        return
    feed.clock, feed.clock_at = clock, at
    left = None if room.deadline is None else (room.deadline - timezone.now()).total_seconds()
    feed.push(
        encoded(
            {
                "type": "clock",
                "phase_number": room.phase_number,
                "remaining": None if left is None else max(0.0, round(left, 3)),
                "last_seq": room.last_seq,
            }
        )
    )


def _hear(text: str) -> None:
    news = News.read(text)
    ELSEWHERE.inc(news.line is not None)
    hub.take(news)

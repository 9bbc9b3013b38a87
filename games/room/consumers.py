"""A page's socket: who is there, what they send, what they are told. Plain ASGI, see ADR 0019."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple, TypeVar

from django.db import DatabaseError
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy as _
from prometheus_client import Counter

from games.room import acting, aside, frames
from games.room.doors import is_from_here, language_of, onward, request_of, seat_of
from games.room.feeds import Link
from games.room.frames import Brake, Frame
from games.room.hub import hub, typing
from games.room.models import Seat
from games.room.readings import StateOf, encoded, state_of
from games.room.services import note_seen
from studies.refusals import error_body
from turingsite.errors import Conflict, DomainError, NotFound, TryLater

T = TypeVar("T")
Scope = dict[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# Why the server closes a socket; the first two after a ``goto``.
NOT_HERE, NO_LONGER_HERE, SILENT, ABUSED = 4403, 4410, 4408, 4429
HELLO_WITHIN = 30.0  # seconds
TYPING_EVERY = 1.0  # seconds at least

FRAMES = Counter("turingsite_room_frames", "Frames that pages sent, by type", ["type"])

log = logging.getLogger("turingsite.room")


class Door(NamedTuple):
    """Who came in, or only where they are sent."""

    goto: str
    seat_id: int = 0
    room_id: int = 0
    code: str = ""
    language: str = "en"


class PageGone(Exception):
    """There is nobody to send to any more."""


async def room_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """The application behind ``/ws/s/<slug>/room/``."""
    if (await receive())["type"] != "websocket.connect":
        return
    if not is_from_here(request_of(scope)):
        await send({"type": "websocket.close", "code": NOT_HERE})
        return
    door = await aside.run(_admit, scope, scope["url_route"]["kwargs"]["slug"])
    socket = Socket(door, receive, send)
    try:
        await send({"type": "websocket.accept"})
        if door.seat_id:
            await socket.serve()
        else:
            await socket.send_on(NOT_HERE)
    except* (
        PageGone,
        OSError,
    ):  # it is OSError by which servers say so; writing and reading may both meet it
        pass


def _admit(scope: Scope, slug: str) -> Door:
    request = request_of(scope)
    try:
        seat = seat_of(request, slug)
    except DomainError as error:
        return Door(str(error.params.get("goto") or error.params.get("study") or onward(slug)))
    return Door(onward(slug), seat.pk, seat.room_id, seat.code, language_of(request, seat))


class Socket:
    """One open socket. What a page sends is answered in its order; lines and states go out beside that."""

    def __init__(self, door: Door, receive: Receive, send: Send) -> None:
        self.door = door
        self._receive = receive
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._brake = Brake(self._loop.time())
        self._until = self._loop.time() + HELLO_WITHIN
        self._link: Link | None = None
        self._typed_at = 0.0
        self._group = asyncio.TaskGroup()
        self._writing: asyncio.Task[None] | None = None

    async def serve(self) -> None:
        """Until the page goes, or has to."""
        async with self._group:  # if writing breaks, the socket does: the page comes back and reads up
            try:
                while (message := await self._next()) is not None:
                    if not await self._answer(message):
                        break
            except PageGone:
                pass
            finally:
                if self._link is not None:
                    hub.leave(self._link)
                if self._writing is not None:
                    self._writing.cancel()

    async def send_on(self, code: int) -> None:
        """To where the person's place is; there is none here."""
        await self._tell({"type": "goto", "url": self.door.goto})
        await self._close(code)

    async def _next(self) -> Message | None:
        """What came; None when nothing will, or nothing did though the page should have said hello."""
        limit = max(0.0, self._until - self._loop.time()) if self._link is None else None
        try:
            message = await asyncio.wait_for(self._receive(), limit)
        except TimeoutError:
            await self._close(SILENT)
            return None
        return None if message["type"] == "websocket.disconnect" else message

    async def _answer(self, message: Message) -> bool:
        """Do what a frame asks, or say why not; False where that was once too often."""
        frame: Frame = {}
        try:
            frame = frames.read(message.get("text"))
            FRAMES.labels(frame["type"]).inc()
            self._brake.pull(self._loop.time())
            await self._do(frame)
        except DomainError as error:
            if not frame:
                self._brake.spent += 1
            if self._brake.is_abused:
                await self._close(ABUSED)
                return False
            with translation.override(self.door.language):
                body = error_body(error)
            await self._tell({"type": "refused", "id": frame.get("id"), **body})
        return True

    async def _do(self, frame: Frame) -> None:
        what = frame["type"]
        if what == "ping":
            await self._tell({"type": "pong"})
        elif what == "hello":
            await self._hello(frames.number(frame, "after") or 0)
        elif self._link is None:
            raise Conflict("no_hello", _("This could not be read. Load the page again; you lose nothing."))
        elif what == "send":
            await self._tell({"type": "ack", **await self._rows(acting.say, frame)})
        elif what == "act":
            await self._tell({"type": "done", **await self._rows(acting.act, frame)})
        elif what == "typing":
            self._type(self._link)

    async def _hello(self, after: int) -> None:
        """Greet with the state, then with what the page has not got; later ones only with the state."""
        link = self._link
        if link is None:
            link = self._link = hub.join(
                room_id=self.door.room_id, seat_id=self.door.seat_id, code=self.door.code, send=self._say
            )
            link.begin(after, await self._rows(_enter))
            self._writing = self._group.create_task(self._write(link))
        else:
            link.push_state(await self._rows(_enter))

    async def _write(self, link: Link) -> None:
        try:
            await link.write()
            await self.send_on(NO_LONGER_HERE)
        except PageGone:
            pass  # who listens on the other side of the socket learns it too

    def _type(self, link: Link) -> None:
        now = self._loop.time()
        if link.may_write and link.tells_typing and now - self._typed_at >= TYPING_EVERY:
            self._typed_at = now
            typing(link.feed.room_id, link.code)

    async def _rows(self, work: Callable[..., T], *given: Any) -> T:
        """What ``work(seat_id, *given)`` says beside the loop, in the person's language; TryLater
        ``try_later`` where the database does not answer.
        """
        try:
            return await aside.run(_in_language, self.door.language, work, self.door.seat_id, *given)
        except DatabaseError as error:
            log.warning("event=room_rows_failed work=%s", work.__name__, exc_info=error)
            raise TryLater("try_later", _("This did not work just now. Try again in a moment.")) from error

    async def _tell(self, frame: Frame) -> None:
        await self._say(encoded(frame))

    async def _say(self, text: str) -> None:
        try:
            await self._send({"type": "websocket.send", "text": text})
        except OSError as error:  # as servers say it
            raise PageGone from error

    async def _close(self, code: int) -> None:
        try:
            await self._send({"type": "websocket.close", "code": code})
        except OSError as error:
            raise PageGone from error


def _in_language(language: str, work: Callable[..., T], *given: Any) -> T:
    with translation.override(language):
        return work(*given)


def _enter(seat_id: int) -> StateOf:
    """The seat's page is open: note it, and what the page begins with."""
    now = timezone.now()
    note_seen(seat_ids=[seat_id], now=now)
    seat = Seat.objects.filter(pk=seat_id).first()
    if seat is None:
        raise NotFound("no_seat", _("You have no seat in such a room."))
    return state_of(seat)

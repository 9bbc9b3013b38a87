"""A real server in a thread of the test's own process, pages with sockets, and a game without any rules."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import uvicorn
from django.core import signing
from django.utils import timezone
from django.utils.translation import get_language
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from dialogues.models import Nature
from games.room.models import Room, Seat
from games.room.rules import Rules, rules
from games.room.services import NewSeat, open_room, set_phase
from studies import access
from studies.models import Participant, Study
from tests import factories

PATIENCE = 20  # seconds; a busy machine is no failure
HOST = "127.0.0.1"
Frame = dict[str, Any]


def _over(room: Room, now: datetime) -> None:
    set_phase(room=room, phase="after", seconds=None, writable=True, now=now)


def _act(seat: Seat, action: str, data: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
    if action == "speak":
        return {"language": get_language()}
    return {"do": action, "target": data.get("target"), "round": data.get("round")}


#: People talk; after the first phase comes another, without an end. Who is out reads no more.
PLAIN = Rules(
    key="plain",
    phase_over=_over,
    state=lambda seat: {},
    act=_act,
    may_read=lambda seat: seat.out_at is None,
    left=lambda seat, now: None,
)
if "plain" not in rules:
    rules.add(PLAIN)


def plain_room(
    people: int = 2,
    *,
    machine: bool = False,
    study: Study | None = None,
    seconds: float | None = 600,
    **given: Any,
) -> tuple[Room, list[Seat]]:
    """An open room and its people's seats; ``machine``: one more sits there."""
    study = study or factories.StudyFactory(slug=given.pop("slug", "talk"), activities=[])
    seats = [NewSeat(Nature.HUMAN, factories.ParticipantFactory(study=study)) for _ in range(people)]
    if machine:
        seats.append(NewSeat(Nature.MACHINE))
    room = open_room(
        study=study,
        game="plain",
        language="en",
        seats=seats,
        seed=7,
        phase="talk",
        seconds=seconds,
        writable=True,
        now=timezone.now(),
        **given,
    )
    people_s = room.seats.filter(nature=Nature.HUMAN).select_related("participant__study", "room")
    return room, list(people_s.order_by("participant__pk"))


class Site:
    """The address of a running server."""

    def __init__(self, port: int) -> None:
        self.port = port

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.port}"


@contextmanager
def server(**config: Any) -> Iterator[Site]:
    """The site's own ASGI application, its lifespan and all, on a free port."""
    from turingsite.asgi import application

    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32_768)  # a slow page is found out early
        listening.bind((HOST, 0))
        running = uvicorn.Server(
            uvicorn.Config(
                application,
                lifespan="on",
                log_config=None,
                log_level="warning",
                timeout_graceful_shutdown=1,
                ws_max_size=131_072,
                ws_per_message_deflate=False,
                **config,
            )
        )
        thread = threading.Thread(target=lambda: asyncio.run(running.serve([listening])))
        thread.start()
        try:
            wait_for(lambda: running.started or not thread.is_alive())
            assert running.started
            yield Site(listening.getsockname()[1])
        finally:
            running.should_exit = True
            thread.join(PATIENCE)
        assert not thread.is_alive()


def wait_for(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def cookie_of(participant: Participant) -> str:
    slug = participant.study.slug
    return (
        f"{access.cookie_name(slug)}={signing.dumps(participant.resume_code, salt=f'{access.SALT}.{slug}')}"
    )


def person_at(seat: Seat) -> Participant:
    assert seat.participant is not None
    return seat.participant


class Page:
    """A page's socket. ``frames``: all that came, in order; ``lines``: those of the log."""

    def __init__(
        self,
        site: Site,
        slug: str,
        cookie: str = "",
        *,
        after: int | None = 0,
        query: str = "",
        origin: str | None = None,
        buffer: int | None = None,
        queue: int = 16,
    ) -> None:
        headers = {"Cookie": cookie} if cookie else {}
        line = socket.socket()
        if buffer is not None:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        line.connect((HOST, site.port))
        self.line: ClientConnection = connect(
            f"ws://{HOST}:{site.port}/ws/s/{slug}/room/{query}",
            sock=line,
            additional_headers=headers,
            origin=Origin(site.origin if origin is None else origin),
            compression=None,
            open_timeout=PATIENCE,
            max_queue=queue,
            legacy=True,  # not as a context manager
        )
        self.frames: list[Frame] = []
        self._asked = 0
        if after is not None:
            self.send(type="hello", after=after)

    @classmethod
    def of(cls, site: Site, seat: Seat, **options: Any) -> Page:
        person = person_at(seat)
        return cls(site, person.study.slug, cookie_of(person), **options)

    def send(self, **frame: Any) -> None:
        self.raw(json.dumps(frame))

    def raw(self, data: str | bytes) -> None:
        self.line.send(data)

    def next(self, seconds: float = PATIENCE) -> Frame:
        frame: Frame = json.loads(self.line.recv(timeout=seconds))
        self.frames.append(frame)
        return frame

    def until(self, kind: str, /, **values: Any) -> Frame:
        """The next frame of that type with these values; those before it stay in ``frames``."""
        while True:
            frame = self.next()
            if frame["type"] == kind and all(frame.get(name) == value for name, value in values.items()):
                return frame

    def ask(self, **frame: Any) -> Frame:
        """What the server says to a frame, under an id of its own where none is given."""
        self._asked += 1
        own = frame.setdefault("id", f"ask-{self._asked}")
        self.send(**frame)
        while True:
            told = self.next()
            if told["type"] in ("ack", "done", "refused") and told.get("id") == own:
                return told

    def say(self, text: str, **values: Any) -> Frame:
        return self.ask(type="send", text=text, at=1_700_000_000_000, **values)

    def read_to(self, seq: int) -> list[Frame]:
        """All lines, once number ``seq`` is there."""
        while not any(line["seq"] >= seq for line in self.lines):
            self.next()
        return self.lines

    @property
    def lines(self) -> list[Frame]:
        return [frame for frame in self.frames if frame["type"] == "event"]

    @property
    def texts(self) -> list[str]:
        return [line["text"] for line in self.lines if line["kind"] == "message"]

    @property
    def numbers(self) -> list[int]:
        return [line["seq"] for line in self.lines]

    def closed(self) -> int:
        """The code with which the server closed, everything before it read."""
        try:
            while True:
                self.next()
        except ConnectionClosed as gone:
            return gone.rcvd.code if gone.rcvd else 1006

    def close(self) -> None:
        self.line.close()

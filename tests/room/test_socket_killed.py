"""Servers that are killed, and Redis that is: pages come back, nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from games.room import services
from games.room.models import Event, Room, Seat
from games.room.services import Limits
from tests.room.live import HOST, PATIENCE, Page, Site, plain_room, wait_for
from tests.servers_plugin import Servers, _free_port

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.django_db(transaction=True)
SOON = 5.0  # seconds; within one or two a line is there without Redis, but the machine may be busy


class Process:
    """A server process on the test's own database, with the rules of ``tests.room.live``."""

    def __init__(self, log: Path, redis_url: str) -> None:
        self.site = Site(_free_port())
        database = connection.settings_dict
        if connection.vendor == "sqlite":
            url = f"sqlite:///{database['NAME']}"
        else:
            who = f"{database['USER']}:{database['PASSWORD']}".rstrip(":")
            url = f"postgres://{who}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "turingsite.settings.test",
            "DATABASE_URL": url,
            "REDIS_URL": redis_url,
        }
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-W", "ignore", "-m", "uvicorn", "tests.room.served:application",
                    f"--host={HOST}", f"--port={self.site.port}", "--lifespan=on", "--log-level=warning",
                    "--timeout-graceful-shutdown=1",
                ],
                cwd=ROOT, env=environment, stdout=output, stderr=output,
            )  # fmt: skip

    def ready(self) -> Process:
        def answers() -> bool:
            assert self.process.poll() is None
            with socket.socket() as probe:
                return probe.connect_ex((HOST, self.site.port)) == 0

        wait_for(answers, 90)
        return self

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)


@contextmanager
def processes(log: Path, *redis_urls: str) -> Iterator[list[Process]]:
    """One for each address of Redis, started at the same time."""
    running = [Process(log, url) for url in redis_urls]
    try:
        for one in running:
            one.ready()
        yield running
    finally:
        for one in running:
            one.kill()


def returned(page: Page, site: Site, seat: Seat) -> Page:
    """The page again, with what it has: it asks for what came after."""
    has = max(page.numbers, default=0)
    again = Page.of(site, seat, after=has)
    again.frames = list(page.frames)
    return again


def took(what: Callable[[], Any]) -> float:
    start = time.monotonic()
    what()
    return time.monotonic() - start


@pytest.mark.both
@pytest.mark.slow
def test_a_server_killed_in_the_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    room, seats = plain_room(3, limits=Limits(rate_count=100, rate_seconds=1))
    log = tmp_path / "log"
    with processes(log, "") as [first]:
        pages = [Page.of(first.site, seat) for seat in seats]
        for page in pages:
            page.until("state")
        for number in range(6):
            assert pages[number % 3].ask(type="send", id=f"m{number}", text=f"m{number}")["type"] == "ack"
        for number, page in enumerate(pages):
            page.send(type="send", id=f"cut{number}", text=f"cut{number}")  # on its way when it happens
        first.kill()
        for page in pages:
            page.closed()
        # Nobody is there to end the phase: it is overdue when the server is back.
        Room.objects.filter(pk=room.pk).update(deadline=timezone.now() - timedelta(seconds=1))
    with processes(log, "") as [second]:
        pages = [returned(page, second.site, seat) for page, seat in zip(pages, seats, strict=True)]
        assert took(lambda: pages[0].until("event", phase="after")) < SOON
        for number, page in enumerate(pages):
            assert page.ask(type="send", id=f"cut{number}", text=f"cut{number}")["type"] == "ack"
        last = Event.objects.filter(room=room).order_by("-seq")[0].seq
        for page in pages:
            page.read_to(last)
            assert page.numbers == list(range(1, last + 1))
            assert sorted(page.texts) == sorted([f"m{n}" for n in range(6)] + [f"cut{n}" for n in range(3)])
    assert Event.objects.filter(room=room, kind="phase", phase="after").count() == 1
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.mark.slow
def test_two_processes_with_redis_without_it_and_through_its_death(tmp_path: Path) -> None:
    """One page on each of three processes: two that know Redis, one that does not."""
    _room, seats = plain_room(3, typing=True, limits=Limits(rate_count=100, rate_seconds=1))
    servers = Servers()
    log = tmp_path / "log"
    try:
        url = servers.valkey()
        redis = servers.running[-1]
        with processes(log, url, url, "") as running:
            pages = [Page.of(one.site, seat) for one, seat in zip(running, seats, strict=True)]
            for page in pages:
                page.until("state")
            ada, bea, eve = pages
            number = 1

            def said_and_heard(text: str) -> list[float]:
                nonlocal number
                number += 1
                assert ada.say(text)["type"] == "ack"
                return [took(partial(page.read_to, number)) for page in (bea, eve)]

            said_and_heard("to warm up")
            # Typing is in no row: it came through Redis.
            ada.send(type="typing")
            assert bea.until("typing")["seat"] == seats[0].code
            quiet = time.monotonic() + 11  # longer than any timeout of a client's socket
            while time.monotonic() < quiet:
                try:
                    bea.next(1)
                except TimeoutError:
                    continue
            ada.send(type="typing")
            assert bea.until("typing"), "a quiet line is still a line"
            assert max(said_and_heard("after a rest")) < SOON
            redis.send_signal(signal.SIGKILL)
            redis.wait(PATIENCE)
            for turn in range(3):
                assert max(said_and_heard(f"without it {turn}")) < SOON
            port = url.rsplit(":", 1)[1]
            program = redis.args[0]  # type: ignore[index]
            again = servers.spawn(
                [str(program), "--bind", HOST, "--port", port, "--save", ""], tmp_path / "redis"
            )
            assert again.poll() is None

            def typing_is_back() -> bool:
                ada.send(type="typing")
                try:
                    return bool(bea.next(1.1)["type"] == "typing")
                except TimeoutError:
                    return False

            wait_for(typing_is_back)
            assert max(said_and_heard("it is back")) < SOON
            services.send_message(
                seat_id=seats[2].pk, text="by nobody's server", client_id="x", now=timezone.now()
            )
            number += 1
            for page in pages:
                page.read_to(number)
                assert page.numbers == list(range(1, number + 1))
    finally:
        servers.stop()
    assert "Traceback" not in log.read_text(), log.read_text()

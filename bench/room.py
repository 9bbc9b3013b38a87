"""The live room: processor time of the server per message with six deliveries, beside Channels'
``group_send`` and beside a plain dictionary of sockets; then a hundred rooms at once on two server processes.

``python -m bench.room ratio|rooms|limit`` runs a part; ``BENCH_ROOM_SECONDS`` makes the rooms' time shorter.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from bench.servers import HOST, ROOT, Site, run, workspace

SLUG = "bench"
PEOPLE = 6
BLOCKS, BLOCK, TABLES = 15, 60, 6  # messages a block, rooms they go to in turns
TO_GROUP_SEND, TO_PLAIN = 0.5, 2.0
ROOMS, EVERY, P95 = 100, 7.0, 0.25
SECONDS = float(os.environ.get("BENCH_ROOM_SECONDS", "60"))
TRIES = 3  # of the hundred rooms: others on the machine can only make it slower
FLAGS = (
    "--no-access-log", "--no-server-header", "--log-level=warning",
    "--timeout-keep-alive=75", "--ws-max-size=131072", "--ws-ping-interval=10", "--ws-ping-timeout=10",
    "--ws-per-message-deflate=false",
)  # fmt: skip


def prepare(rooms: int) -> None:
    """In a production process: ``rooms`` with six people and an agent that keeps silent; who may enter them
    on stdout, as [[seat, cookie], …] by room.
    """
    import django

    django.setup()
    from datetime import timedelta

    from django.core.management import call_command
    from django.core.signing import dumps
    from django.utils import timezone

    from games.group.models import GroupSettings
    from games.room.models import Event
    from games.room.services import append
    from studies.access import SALT, cookie_name
    from tests import factories
    from tests.rooms import AgentFactory, GameFactory, RoomFactory

    call_command("migrate", verbosity=0)
    study = factories.StudyFactory(slug=SLUG, activities=["group"])
    GroupSettings.objects.create(study=study)
    agent, now = AgentFactory(), timezone.now()
    told = []
    for _ in range(rooms):
        room = RoomFactory(
            study=study, phase_started_at=now, opened_at=now, deadline=now + timedelta(hours=4),
            rate_count=1000, rate_seconds=1,
        )  # fmt: skip
        GameFactory(room=room, people=PEOPLE, agent=agent)
        append(room=room, kind=Event.Kind.PHASE, now=now)
        seats = room.seats.filter(nature="human").select_related("participant")
        told.append(
            [
                (
                    seat.code,
                    f"{cookie_name(SLUG)}={dumps(seat.participant.resume_code, salt=f'{SALT}.{SLUG}')}",
                )
                for seat in seats
                if seat.participant is not None
            ]
        )
    print(json.dumps(told))


def stored() -> None:
    """In a production process: messages in the rooms' logs, and rooms whose log has a gap; on stdout."""
    import django

    django.setup()
    from django.db.models import Count, F, Max

    from games.room.models import Event, Room

    logs = Room.objects.annotate(lines=Count("events"), newest=Max("events__seq"))
    wrong = logs.exclude(lines=F("newest"), newest=F("last_seq")).count()
    print(json.dumps([Event.objects.messages().count(), wrong]))


@contextlib.contextmanager
def uvicorn(environment: Mapping[str, str], application: str, *, lifespan: str = "on") -> Iterator[Site]:
    """``application`` as the service ``live`` runs it, ready to be asked."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    program = str(Path(sys.executable).with_name("uvicorn"))
    process = subprocess.Popen(
        [program, application, "--host=127.0.0.1", f"--port={port}", f"--lifespan={lifespan}", *FLAGS],
        cwd=ROOT,
        env=environment,
    )
    try:
        end = time.monotonic() + 120
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{application} did not start")
            time.sleep(0.1)
        yield Site(process, port)
    finally:
        process.terminate()
        process.wait(30)


def page(site: Site, cookie: str, room: int, path: str = f"/ws/s/{SLUG}/room/") -> dict[str, Any]:
    """What a client needs to know to open a socket."""
    greeting = json.dumps({"type": "hello", "after": 0}) if cookie else ""
    headers = {"Cookie": cookie, "Origin": f"http://{HOST}:{site.port}"} if cookie else {}
    return {
        "address": f"ws://{HOST}:{site.port}{path}",
        "headers": headers,
        "greeting": greeting,
        "room": str(room),
    }


class Table:
    """One room's pages in this process: somebody says something, everybody hears it."""

    def __init__(self, pages: Sequence[Mapping[str, Any]]) -> None:
        self.pages = pages
        self.lines: list[ClientConnection] = []
        self.said = 0

    async def sit_down(self) -> None:
        for one in self.pages:
            line = await connect(
                one["address"], host="127.0.0.1", additional_headers=one["headers"], compression=None
            )
            self.lines.append(line)
            if one["greeting"]:
                await line.send(one["greeting"])
                await self.heard(line, "phase")

    async def say(self) -> None:
        """One message, until all six have it."""
        text = f"something of the usual length, said for the {self.said}th time"
        frame = {"type": "send", "id": f"m{self.said}", "text": text}
        await self.lines[self.said % len(self.lines)].send(json.dumps(frame))
        self.said += 1
        await asyncio.gather(*(self.heard(line, text) for line in self.lines))

    @staticmethod
    async def heard(line: ClientConnection, what: str) -> None:
        async with asyncio.timeout(30):
            while True:
                frame = json.loads(await line.recv())
                if frame["type"] == "refused":
                    raise RuntimeError(f"refused: {frame}")
                if frame["type"] == "event" and what in (frame["text"], frame.get("kind")):
                    return


async def costs(sites: Mapping[str, tuple[Site, list[Table]]]) -> dict[str, list[float]]:
    """Seconds of processor time a message, by site and block. They are asked in turns, so that a busy machine
    is busy for all; the first block warms up and is left out.
    """
    found: dict[str, list[float]] = {name: [] for name in sites}
    for _, tables in sites.values():
        for table in tables:
            await table.sit_down()
    for block in range(BLOCKS + 1):
        for name, (site, tables) in sites.items():
            before = site.processor_seconds()
            for number in range(BLOCK):
                await tables[number % len(tables)].say()
            if block:
                found[name].append((site.processor_seconds() - before) / BLOCK)
    return found


def ratio() -> bool:
    """Ours, ours with Redis set (shown), and both anchors, in one run; every message stored."""
    with workspace("postgresql") as environment, contextlib.ExitStack() as stack:
        alone = {**environment, "DJANGO_SETTINGS_MODULE": "bench.room_settings"}
        people = json.loads(run(environment, "-m", "bench.room", "prepare", str(2 * TABLES)))
        run(environment, "-m", "bench.room_anchor")
        anchor, plain = (
            stack.enter_context(uvicorn(environment, "bench.room_anchor:application", lifespan="off"))
            for _ in "ab"
        )
        ours = stack.enter_context(uvicorn(alone, "turingsite.asgi:application"))
        joined = stack.enter_context(uvicorn(environment, "turingsite.asgi:application"))

        def seated(site: Site, rooms: Sequence[Sequence[Sequence[str]]]) -> list[Table]:
            return [Table([page(site, cookie, 0) for _, cookie in room]) for room in rooms]

        def bare(site: Site, kind: str) -> list[Table]:
            pages = [[page(site, "", 0, f"/ws/{kind}/{n}/")] * PEOPLE for n in range(TABLES)]
            return [Table(one) for one in pages]

        found = asyncio.run(
            costs(
                {
                    "group_send": (anchor, bare(anchor, "group")),
                    "plain": (plain, bare(plain, "plain")),
                    "ours": (ours, seated(ours, people[:TABLES])),
                    "with Redis": (joined, seated(joined, people[TABLES:])),
                }
            )
        )
        messages, wrong = json.loads(run(environment, "-m", "bench.room", "stored"))
    sent = 2 * (BLOCKS + 1) * BLOCK
    cost = {name: statistics.median(times) * 1000 for name, times in found.items()}
    pairs = zip(found["ours"], found["group_send"], found["plain"], strict=True)
    to_group, to_plain = (
        statistics.median(ratios)
        for ratios in zip(*((ours / a, ours / b) for ours, a, b in pairs), strict=True)
    )
    print(f"Channels' group_send and an insert   {cost['group_send']:6.2f} ms of processor time a message")
    print(f"a dictionary of sockets, an insert   {cost['plain']:6.2f} ms")
    print(
        f"ours                                 {cost['ours']:6.2f} ms  ({cost['with Redis']:.2f} with Redis)"
    )
    print(
        f"ratio to group_send {to_group:.2f} (≤ {TO_GROUP_SEND:g}), "
        f"to the dictionary {to_plain:.2f} (≤ {TO_PLAIN:g})"
    )
    print(f"{messages} of {sent} messages stored, {wrong} logs with a gap")
    return to_group <= TO_GROUP_SEND and to_plain <= TO_PLAIN and (messages, wrong) == (sent, 0)


def crowd(rooms: int, seconds: float) -> dict[str, Any]:
    """``rooms`` × six people on two server processes, three of each room on either; one message a person
    every seven seconds. What the people saw, and whether the logs agree.
    """
    with workspace("postgresql") as environment, contextlib.ExitStack() as stack:
        people = json.loads(run(environment, "-m", "bench.room", "prepare", str(rooms)))
        sites = [stack.enter_context(uvicorn(environment, "turingsite.asgi:application")) for _ in "ab"]
        pages = [
            page(sites[number % 2], cookie, room)
            for room, seats in enumerate(people)
            for number, (_, cookie) in enumerate(seats)
        ]
        orders = json.dumps({"pages": pages, "seconds": seconds, "every": EVERY})
        before = [site.processor_seconds() for site in sites]
        told = subprocess.run(
            [sys.executable, "-m", "bench.room_crowd"],
            cwd=ROOT, input=orders, check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        seen: dict[str, Any] = json.loads(told.stdout)
        spent = sum(site.processor_seconds() for site in sites) - sum(before)
        messages, wrong = json.loads(run(environment, "-m", "bench.room", "stored"))
    seen["load"] = spent / seconds
    seen["whole"] = (
        seen["delivered"] == seen["expected"]
        and seen["sent"] == seen["acked"] == messages
        and not (seen["doubled"] or seen["disorder"] or seen["refused"] or wrong)
    )
    delays = " / ".join(f"{seen[name] * 1000:.0f}" for name in ("p50", "p95", "p99"))
    print(
        f"{rooms} rooms × {PEOPLE}, two processes, Redis: {seen['sent']} messages, {seen['delivered']} of "
        f"{seen['expected']} deliveries, p50 / p95 / p99 {delays} ms, {seen['load']:.2f} processors"
        + ("" if seen["whole"] else f"  NOT WHOLE: {json.dumps(seen)}"),
        flush=True,
    )
    return seen


def hundred() -> bool:
    for _ in range(TRIES):
        seen = crowd(ROOMS, SECONDS)
        if not seen["whole"]:
            return False
        if seen["p95"] <= P95:
            return True
    return False


def limit() -> bool:
    """Half as many rooms again and again, until something is late or lost: shown, not judged."""
    rooms = ROOMS
    while True:
        seen = crowd(rooms, min(SECONDS, 30))
        if not seen["whole"] or seen["p95"] > P95:
            print(f"it breaks at {rooms} rooms")
            return True
        rooms += rooms // 2


def main() -> int:
    results = [ratio(), hundred()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", rooms]:
            prepare(int(rooms))
        case ["stored"]:
            stored()
        case ["ratio"]:
            sys.exit(not ratio())
        case ["rooms"]:
            sys.exit(not hundred())
        case ["limit"]:
            sys.exit(not limit())
        case _:
            sys.exit(main())

"""People in rooms, as a process beside the servers: orders as JSON on stdin, what it saw on stdout.

Orders: ``pages`` (address, headers, greeting, room), ``seconds``, ``every`` (seconds between two messages of
one person). Each message carries the moment it was sent; every page notes how long it was on its way.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

GRACE = 15.0  # seconds for what is under way at the end
CONNECTING = 50  # sockets opened at once


class Crowd:
    def __init__(self, pages: Sequence[Mapping[str, Any]]) -> None:
        self.pages = pages
        self.sizes = Counter(page["room"] for page in pages)
        self.sent: Counter[str] = Counter()  # messages by room
        self.acked = 0
        self.refused: list[str] = []
        self.delays: list[float] = []
        self.got: list[list[str]] = [[] for _ in pages]  # texts by page
        self.disorder = 0

    async def play(self, seconds: float, every: float) -> dict[str, Any]:
        gate = asyncio.Semaphore(CONNECTING)

        async def opened(page: Mapping[str, Any]) -> ClientConnection:
            async with gate:
                line = await connect(
                    page["address"],
                    host="127.0.0.1",
                    additional_headers=page["headers"],
                    compression=None,
                    open_timeout=60,
                    ping_interval=None,
                )
                if page["greeting"]:
                    await line.send(page["greeting"])
                    await line.recv()
                return line

        lines = await asyncio.gather(*map(opened, self.pages))
        reading = [asyncio.create_task(self._read(number, line)) for number, line in enumerate(lines)]
        start = time.monotonic() + 1
        writing = (self._write(number, line, start, seconds, every) for number, line in enumerate(lines))
        await asyncio.gather(*writing)
        end = time.monotonic() + GRACE
        while not self._is_complete() and time.monotonic() < end:
            await asyncio.sleep(0.1)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        await asyncio.gather(*(line.close() for line in lines), return_exceptions=True)
        return self._told()

    async def _read(self, number: int, line: ClientConnection) -> None:
        last = 0
        async for text in line:
            frame = json.loads(text)
            if frame["type"] == "event" and frame.get("kind", "message") == "message":
                sent_at = float(frame["text"].split()[-1])
                self.delays.append(time.monotonic() - sent_at)
                self.got[number].append(frame["text"])
                self.disorder += frame["seq"] <= last
                last = frame["seq"]
            elif frame["type"] == "ack":
                self.acked += 1
            elif frame["type"] == "refused":
                self.refused.append(frame["error"]["code"])

    async def _write(
        self, number: int, line: ClientConnection, start: float, seconds: float, every: float
    ) -> None:
        """One message every so many seconds, at a moment of one's own within them."""
        own = random.Random(number)
        page = self.pages[number]
        turn = 0
        while (at := start + (turn + own.random()) * every) < start + seconds:
            await asyncio.sleep(max(0.0, at - time.monotonic()))
            text = f"{number} says something of the usual length, {turn} {time.monotonic():.6f}"
            await line.send(json.dumps({"type": "send", "id": f"{number}-{turn}", "text": text}))
            self.sent[page["room"]] += 1
            turn += 1

    def _is_complete(self) -> bool:
        return all(
            len(got) >= self.sent[page["room"]] for got, page in zip(self.got, self.pages, strict=True)
        )

    def _told(self) -> dict[str, Any]:
        delays = sorted(self.delays) or [0.0]
        return {
            "sent": sum(self.sent.values()),
            "acked": self.acked,
            "refused": self.refused,
            "expected": sum(count * self.sizes[room] for room, count in self.sent.items()),
            "delivered": sum(len(set(got)) for got in self.got),
            "doubled": sum(len(got) - len(set(got)) for got in self.got),
            "disorder": self.disorder,
            "p50": delays[len(delays) // 2],
            "p95": delays[int(len(delays) * 0.95)],
            "p99": delays[int(len(delays) * 0.99)],
        }


if __name__ == "__main__":
    orders = json.load(sys.stdin)
    crowd = Crowd(orders["pages"])
    print(json.dumps(asyncio.run(crowd.play(orders["seconds"], orders["every"]))))

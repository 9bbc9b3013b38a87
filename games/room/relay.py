"""Redis between processes: what one tells, all others hear while Redis is there. Nothing waits for it."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import redis
import redis.asyncio
from django.conf import settings

if TYPE_CHECKING:
    from games.room.hub import News

log = logging.getLogger("turingsite.room")

AGAIN = 1.0  # seconds until Redis is tried again
QUIET = 5.0  # seconds without a word until we ask whether the line still stands
MOST = 1_000  # pieces of news kept for Redis; rows have what is dropped


class Relay:
    """Publishes from a thread of its own, hears in the event loop."""

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """A forked process is another one, and has none of its parent's threads."""
        self._name = secrets.token_hex(8)
        self._queue: SimpleQueue[News] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return str(settings.REDIS_URL)

    @property
    def channel(self) -> str:
        """Redis does not part what is published by database, so the channel's name does."""
        return f"turingsite.rooms.{urlsplit(self.url).path.strip('/') or '0'}"

    def publish(self, news: News) -> None:
        if not self.url or self._queue.qsize() >= MOST:
            return
        self._queue.put(news)
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._publish, name="room-relay", daemon=True)
                    self._thread.start()

    def _publish(self) -> None:
        queue = self._queue
        while True:
            client = redis.Redis.from_url(self.url, socket_connect_timeout=AGAIN, socket_timeout=AGAIN)
            try:
                with client:
                    while True:
                        batch = [queue.get()]
                        while not queue.empty():
                            batch.append(queue.get())
                        pipe = client.pipeline(transaction=False)
                        for news in batch:
                            pipe.publish(self.channel, f"{self._name}\n{news.written()}")
                        pipe.execute()
            except (redis.RedisError, OSError) as problem:
                log.warning("event=relay_lost side=publish problem=%s", type(problem).__name__)
                time.sleep(AGAIN)
                while not queue.empty():
                    queue.get()  # too old to be news: the others have read the rows

    async def listen(self, take: Callable[[str], None]) -> None:
        """Hand on what other processes publish, until cancelled; through every outage of Redis."""
        while True:
            try:
                # No timeout on the socket: a quiet evening must not cut the line. We ask instead.
                client = redis.asyncio.Redis.from_url(
                    self.url, socket_connect_timeout=AGAIN, socket_timeout=None, decode_responses=True
                )
                async with client, client.pubsub() as pubsub:
                    await pubsub.subscribe(self.channel)
                    await self._hear(pubsub, take)
            except (redis.RedisError, OSError) as problem:
                log.warning("event=relay_lost side=listen problem=%s", type(problem).__name__)
            await asyncio.sleep(AGAIN)

    async def _hear(self, pubsub: redis.asyncio.client.PubSub, take: Callable[[str], None]) -> None:
        asked = False
        while True:
            message = await pubsub.get_message(timeout=QUIET)
            if message is None:
                if asked:
                    return  # no answer either: a new line
                asked = True
                await pubsub.ping()
                continue
            asked = False
            if message["type"] == "message":
                sender, _, text = message["data"].partition("\n")
                if sender != self._name:
                    take(text)

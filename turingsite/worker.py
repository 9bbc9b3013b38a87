"""The embedded worker: a Celery worker and its clock in threads of the one web process.

Started by the ASGI lifespan where ``EMBEDDED_WORKER`` is set, never by commands or tests: a task sent to
the in-memory broker from another process would be lost. Production runs Celery's own worker and beat.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

from celery import Celery
from celery.worker import WorkController, state
from django.conf import settings

from turingsite.celery import app as celery_app

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]  # Django's and ours differ in their mappings

logger = logging.getLogger("turingsite.worker")


class EmbeddedWorker:
    """Runs the tasks of this process; sends the scheduled ones at the start and then by their interval."""

    def __init__(self, app: Celery = celery_app, *, concurrency: int = 2) -> None:
        self.app = app
        self.concurrency = concurrency
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        state.should_terminate = None
        self._declare()
        controller = WorkController(
            app=self.app,
            # Threads, not solo: one slow recording must not hold up the rest.
            pool_cls="threads",
            concurrency=self.concurrency,
            queues=sorted(self.queues()),
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )
        self._threads = [
            threading.Thread(target=controller.start, name="embedded-worker", daemon=True),
            threading.Thread(target=self._tick, name="embedded-clock", daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        logger.info("event=worker_started queues=%s", ",".join(sorted(self.queues())))

    def stop(self, seconds: float = 10) -> None:
        """Let running tasks finish for at most ``seconds``; the next sweep finds the rows of the rest."""
        self._stopping.set()
        state.should_terminate = 0  # type: ignore[assignment]  # the stubs forget the exit code
        for thread in self._threads:
            thread.join(seconds)
        state.should_terminate = None

    def _declare(self) -> None:
        """Declare the queues before two threads do it at once.

        In the in-memory broker a queue may look bound to the one while the other still binds it, and what is
        sent between is lost.
        """
        with self.app.connection_for_write() as connection:
            for name in sorted(self.queues()):
                self.app.amqp.queues[name].bind(connection.default_channel).declare()

    def queues(self) -> set[str]:
        """The default queue and every queue a route names."""
        routes = self.app.conf.task_routes or {}
        return {self.app.conf.task_default_queue} | {route["queue"] for route in routes.values()}

    def _tick(self) -> None:
        schedule = dict(self.app.conf.beat_schedule)
        waited = dict.fromkeys(schedule, 0.0)
        for entry in schedule.values():
            self.app.send_task(entry["task"], kwargs=entry.get("kwargs"))
        while not self._stopping.wait(1):
            for name, entry in schedule.items():
                waited[name] += 1
                if waited[name] >= float(entry["schedule"]):
                    waited[name] = 0
                    self.app.send_task(entry["task"], kwargs=entry.get("kwargs"))


def with_worker(
    application: Application,
    worker: EmbeddedWorker | None = None,
    *,
    beside: Sequence[Callable[[], AbstractAsyncContextManager[object]]] = (),
) -> Application:
    """``application`` with a lifespan that runs ``worker`` where the settings ask for an embedded one.

    ``beside``: what every server process runs beside its pages.
    """

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send, worker, beside)
        else:
            await application(scope, receive, send)

    return wrapped


async def _lifespan(
    receive: Receive,
    send: Send,
    worker: EmbeddedWorker | None,
    beside: Sequence[Callable[[], AbstractAsyncContextManager[object]]],
) -> None:
    worker = (worker or EmbeddedWorker()) if settings.EMBEDDED_WORKER else None
    async with AsyncExitStack() as stack:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                if worker:
                    # In a thread: starting closes database connections, which an event loop may not do.
                    await asyncio.to_thread(worker.start)
                for one in beside:
                    await stack.enter_async_context(one())
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await stack.aclose()
                if worker:
                    await asyncio.to_thread(worker.stop)
                await send({"type": "lifespan.shutdown.complete"})
                return

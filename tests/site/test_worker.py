"""The embedded worker runs tasks and sweeps in the web process, and only where the settings ask for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from celery import Celery

from turingsite.celery import app as site_app
from turingsite.worker import EmbeddedWorker, with_worker

PATIENCE = 60  # seconds; a busy machine is no failure


async def nothing(scope, receive, send) -> None:
    raise AssertionError("only the lifespan is asked for here")


class Lifespan:
    """Drives the lifespan of an application as a server does."""

    def __init__(self, application) -> None:
        self.to_application: asyncio.Queue[dict] = asyncio.Queue()
        self.answers: asyncio.Queue[dict] = asyncio.Queue()
        self.task = asyncio.ensure_future(
            application({"type": "lifespan"}, self.to_application.get, self.answers.put)
        )

    async def say(self, word: str) -> str:
        await self.to_application.put({"type": f"lifespan.{word}"})
        return (await asyncio.wait_for(self.answers.get(), PATIENCE))["type"]


class Private:
    """An application of its own, whose tasks note that they ran."""

    def __init__(self) -> None:
        self.swept, self.done, self.release = threading.Event(), threading.Event(), threading.Event()
        self.app = Celery("private", set_as_current=False)
        self.app.conf.update(
            broker_url="memory://localhost",
            broker_transport_options={"polling_interval": 0.02},
            task_ignore_result=True,
            task_default_queue="private",
            task_routes={"private.slow": {"queue": "private-slow"}},
            beat_schedule={"sweep": {"task": "private.sweep", "schedule": 3600}},
        )
        # Not shared: Celery gives a shared task to every later application, with this one's events.
        self.app.task(name="private.sweep", shared=False)(self.sweep)
        self.app.task(name="private.quick", shared=False)(self.quick)
        self.app.task(name="private.slow", shared=False)(self.slow)

    def sweep(self) -> None:
        self.swept.set()

    def quick(self) -> None:
        self.done.set()

    def slow(self) -> None:
        self.release.wait(PATIENCE)


@pytest.fixture
def private() -> Iterator[Private]:
    made = Private()
    made.app.set_default()  # a pool of threads looks its tasks up in the default application
    yield made
    site_app.set_default()


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("embedded-")}


async def test_worker_sweeps_at_the_start_and_a_slow_task_does_not_block(settings, private: Private) -> None:
    settings.EMBEDDED_WORKER = True
    lifespan = Lifespan(with_worker(nothing, EmbeddedWorker(private.app)))
    assert await lifespan.say("startup") == "lifespan.startup.complete"
    assert threads() == {"embedded-worker", "embedded-clock"}
    try:
        assert await asyncio.to_thread(private.swept.wait, PATIENCE)
        private.app.send_task("private.slow")
        private.app.send_task("private.quick")
        assert await asyncio.to_thread(private.done.wait, PATIENCE)
    finally:
        private.release.set()
        assert await lifespan.say("shutdown") == "lifespan.shutdown.complete"
    assert not threads()


async def test_no_worker_starts_unless_settings_ask_for_it(settings, private: Private) -> None:
    settings.EMBEDDED_WORKER = False
    lifespan = Lifespan(with_worker(nothing, EmbeddedWorker(private.app)))
    assert await lifespan.say("startup") == "lifespan.startup.complete"
    assert not threads()
    assert await lifespan.say("shutdown") == "lifespan.shutdown.complete"
    assert not private.swept.is_set()


def test_every_scheduled_task_exists_and_goes_to_a_queue_that_is_read(settings) -> None:
    site_app.loader.import_default_modules()
    assert settings.CELERY_BEAT_SCHEDULE
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert entry["task"] in site_app.tasks
        queue = site_app.amqp.router.route({}, entry["task"])["queue"].name
        assert queue in EmbeddedWorker(site_app).queues()

"""Redis, a worker for every queue, and the clock that sends the sweeps."""

from __future__ import annotations

from collections.abc import Iterator

import redis as client
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from kombu.exceptions import OperationalError

from turingsite import heartbeat
from turingsite.celery import app
from turingsite.doctor.findings import Finding, error, note, ok, warning

PATIENCE = 2.0  # seconds for Redis, and for workers to answer


def queues() -> set[str]:
    """Every queue that some task goes to."""
    routes = app.conf.task_routes or {}
    return {app.conf.task_default_queue} | {route["queue"] for route in routes.values()}


def redis_answers() -> bool:
    try:
        with client.Redis.from_url(
            settings.REDIS_URL, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE
        ) as one:
            return bool(one.ping())
    except (client.RedisError, ValueError):
        return False


def redis() -> Iterator[Finding]:
    if not getattr(settings, "REDIS_URL", ""):
        yield note(
            "redis",
            _(
                "There is no Redis. That is right for one process: it does its own background work. Several "
                "processes or machines, and live rooms across them, need one."
            ),
        )
    elif redis_answers():
        yield ok("redis", _("Redis answers."))
    else:
        yield error(
            "redis",
            _(
                "Redis does not answer. Nothing is lost, but imports, processing and exports wait, and "
                "guessing codes is not slowed down."
            ),
            _("Start it, or mend REDIS_URL."),
        )


def workers() -> Iterator[Finding]:
    """Which queue has a worker that answers now."""
    if settings.EMBEDDED_WORKER or not getattr(settings, "REDIS_URL", "") or not redis_answers():
        return  # the heartbeat tells of the embedded one; without Redis nobody can be asked
    try:
        answers = app.control.inspect(timeout=PATIENCE).active_queues() or {}
    except (OperationalError, client.RedisError, OSError):
        answers = {}
    served = {queue["name"] for found in answers.values() for queue in found}
    for name in sorted(queues()):
        if name in served:
            number = sum(name in {queue["name"] for queue in found} for found in answers.values())
            yield ok("worker", _("Queue %(queue)s: %(n)s workers answer."), queue=name, n=number)
        else:
            yield error(
                "worker",
                _("Queue %(queue)s has no worker that answers: its jobs wait."),
                _("Start one: celery -A turingsite.celery worker --queues %(queue)s"),
                queue=name,
            )


def beat() -> Iterator[Finding]:
    """Whether the clock still sends tasks, and the worker of the default queue does them."""
    age = heartbeat.age(timezone.now())
    if age is not None and age <= heartbeat.LATE:
        yield ok("beat", _("The last scheduled task was done %(n)s s ago."), n=round(age))
        return
    do = _("Start it: celery -A turingsite.celery beat. If it runs, see to the worker of queue default.")
    say = error
    if settings.EMBEDDED_WORKER:  # somebody may look before the site is started
        do = _("Start the site: manage.py serve. It does its background work itself.")
        say = warning
    if age is None:
        yield say("beat", _("No scheduled task was ever done here: waiting work is not found again."), do)
    else:
        yield say(
            "beat",
            _("The last scheduled task was done %(n)s min ago: waiting work is not found again."),
            do,
            n=round(age / 60),
        )

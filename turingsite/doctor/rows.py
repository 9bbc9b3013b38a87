"""The database: whether it answers, is up to date and keeps the time; work left in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import psycopg
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.services import leases
from turingsite import jobs
from turingsite.doctor.findings import Finding, error, note, ok, warning

SKEW = 2.0  # seconds between this machine's clock and the database's
PATIENCE = 3  # seconds for the database to take a connection
OLD_JOB = 3600.0  # seconds


def database() -> Iterator[Finding]:
    """Reached, its version, migrations. The first finding is an error where nothing else can be asked."""
    try:
        if connection.vendor == "postgresql":
            _knock(connection.settings_dict)
        with connection.cursor() as cursor:
            cursor.execute(
                "SHOW server_version" if connection.vendor == "postgresql" else "SELECT sqlite_version()"
            )
            version = cursor.fetchone()[0]
    except (DatabaseError, psycopg.Error) as problem:
        yield error(
            "database",
            _("The database does not answer (%(what)s)."),
            _("Start it, or mend DATABASE_URL. Nothing works without it."),
            what=type(problem).__name__,
        )
        return
    name = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}.get(connection.vendor, connection.vendor)
    yield ok("database", _("%(name)s %(version)s answers."), name=name, version=version)
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        yield error(
            "migrations",
            _("%(n)s migrations are not applied: pages fail."),
            _("Run manage.py migrate."),
            n=len(missing),
        )
    else:
        yield ok("migrations", _("All migrations are applied."))


def _knock(settings: Mapping[str, Any]) -> None:
    """A connection of its own: the pool would go on trying for half a minute."""
    address = {"host": settings["HOST"], "port": settings["PORT"], "dbname": settings["NAME"]}
    person = {"user": settings["USER"], "password": settings["PASSWORD"]}
    given = {name: str(value) for name, value in (address | person).items() if value}
    psycopg.connect(**given, connect_timeout=PATIENCE).close()  # type: ignore[arg-type]


def clock() -> Iterator[Finding]:
    """This machine's clock against the database's: leases and deadlines compare the two."""
    if connection.vendor != "postgresql":
        return
    before = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        theirs = datetime.fromtimestamp(float(cursor.fetchone()[0]), UTC)
    after = timezone.now()
    skew = max((before - theirs).total_seconds(), (theirs - after).total_seconds(), 0.0)
    if skew > SKEW:
        yield warning(
            "clock",
            _("The clocks of this machine and of the database are %(skew)s s apart."),
            _("Set both by NTP: waiting times and leases are counted on both."),
            skew=f"{skew:.1f}",
        )
    else:
        yield ok("clock", _("This machine and the database agree on the time."))


def work() -> Iterator[Finding]:
    """Jobs that should have been done long ago."""
    for kind in jobs.unfinished(timezone.now()):
        if kind.number and kind.oldest > OLD_JOB:
            yield warning(
                "jobs",
                _("%(name)s: %(n)s wait or run, the oldest for %(hours)s h."),
                _("See whether the worker of their queue runs; a sweep sends them again."),
                name=kind.name,
                n=kind.number,
                hours=f"{kind.oldest / 3600:.1f}",
            )
        elif kind.number:
            yield note(
                "jobs", _("%(name)s: %(n)s wait or run, none for long."), name=kind.name, n=kind.number
            )
        else:
            yield ok("jobs", _("%(name)s: nothing waits."), name=kind.name)


def batches() -> Iterator[Finding]:
    """Batches of annotators who have gone: whether the sweep gives their dialogues to others."""
    number = leases.overdue(timezone.now())
    if number:
        yield warning(
            "batches",
            _("%(n)s batches left alone were not taken back: their dialogues wait for nobody."),
            _("See whether clock and worker of queue default run: their sweep takes them back."),
            n=number,
        )
    else:
        yield ok("batches", _("No batch of annotators is held longer than its time."))

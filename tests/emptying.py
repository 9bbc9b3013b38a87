"""Empty the test database after a test that committed: by deleting rows, TRUNCATE makes files anew."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.db.backends.postgresql.operations import DatabaseOperations

LARGEST = (
    2**20
)  # bytes of a table; one that outgrows them has its files made anew, or dead rows would slow scans


def empty_quickly(patch: pytest.MonkeyPatch) -> None:
    """TRUNCATE makes files for every table and index, 0.2 s of CPU; a test fills few tables with few rows.

    As before nothing is deleted while a server still writes: all tables are locked first. Foreign keys are
    deferred, so any order will do.
    """
    truncate = DatabaseOperations.sql_flush

    def sql_flush(
        self: Any,
        style: Any,
        tables: Iterable[str],
        *,
        reset_sequences: bool = False,
        allow_cascade: bool = False,
    ) -> list[str]:
        names = [self.quote_name(table) for table in tables]
        if reset_sequences or not names or largest(self.connection, names) > LARGEST:
            return truncate(self, style, tables, reset_sequences=reset_sequences, allow_cascade=allow_cascade)
        lock = f"LOCK TABLE {', '.join(names)} IN ACCESS EXCLUSIVE MODE"
        return [lock, *(f"DELETE FROM {name}" for name in names)]  # noqa: S608

    patch.setattr(DatabaseOperations, "sql_flush", sql_flush)


def largest(connection: Any, names: list[str]) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(pg_relation_size(name::regclass)) FROM unnest(%s::text[]) name", [names])
        return int(cursor.fetchone()[0])

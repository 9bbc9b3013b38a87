"""Tables that the database writes itself: one query of finished cells, streamed as lines of CSV in blocks.

PostgreSQL sends the lines through COPY. SQLite hands over cells; Python's csv module joins them, which also
gives numbers their shortest text, and JSON is put into the one order here. Either way the bytes are those of
``sheets.CsvSheet``; a test holds them to that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

from studies.cells import as_json
from studies.cells_sql import cell
from studies.registry import Column
from studies.sheets import csv_lines

#: Bytes (PostgreSQL) and rows (SQLite) gathered before they are passed on.
BLOCK = 1 << 18
ROWS = 1_000


class Block(NamedTuple):
    """Some whole lines of a table."""

    rows: int
    data: bytes


def statement(query: QuerySet[Any], columns: Sequence[Column]) -> tuple[str, tuple[Any, ...]]:
    """The query with its cells written by the database, and its parameters (none on PostgreSQL)."""
    inner, params = query.query.get_compiler(connection=connection).as_sql()
    cells = ", ".join(
        f'{cell(connection.vendor, one.type, f"cell_{at}")} AS "{one.name}"' for at, one in enumerate(columns)
    )
    # The limits keep the planner from putting a column's expression into the place of each use of it.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            inner = cursor.mogrify(inner, params)
        return f"SELECT {cells} FROM ({inner} OFFSET 0) AS made", ()  # noqa: S608  (made above, of our names)
    return f"SELECT {cells} FROM ({inner} LIMIT -1 OFFSET 0) AS made", tuple(params)  # noqa: S608


def blocks(query: QuerySet[Any], columns: Sequence[Column]) -> Iterator[Block]:
    """The lines of ``query``, whose values are those of ``columns`` in their order; no header."""
    try:
        sql, params = statement(query, columns)
    except EmptyResultSet:
        return
    if connection.vendor == "postgresql":
        yield from _copied(sql)
    else:
        json_at = [at for at, one in enumerate(columns) if one.type in ("object", "array")]
        yield from _fetched(sql, params, json_at)


def _copied(sql: str) -> Iterator[Block]:
    with connection.cursor() as cursor, cursor.copy(f"COPY ({sql}) TO STDOUT (FORMAT csv)") as copy:
        lines: list[Any] = []
        size = 0
        for line in copy:  # the server sends one line at a time
            lines.append(line)
            size += len(line)
            if size >= BLOCK:
                yield Block(len(lines), b"".join(lines))
                lines, size = [], 0
        if lines:
            yield Block(len(lines), b"".join(lines))


def _fetched(sql: str, params: Sequence[Any], json_at: Sequence[int]) -> Iterator[Block]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        while rows := cursor.fetchmany(ROWS):
            yield Block(len(rows), csv_lines(_ordered(rows, json_at) if json_at else rows))


def _ordered(rows: Sequence[Sequence[Any]], json_at: Sequence[int]) -> Iterator[list[Any]]:
    for row in rows:
        cells = list(row)
        for at in json_at:
            cells[at] = _json_cell(cells[at])
        yield cells


def _json_cell(text: str | None) -> str:
    if text is None or text == "null":
        return ""
    return _short(text) if len(text) < 200 else as_json(json.loads(text))


_short: Callable[[str], str] = lru_cache(4096)(lambda text: as_json(json.loads(text)))

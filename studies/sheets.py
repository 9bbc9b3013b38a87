"""Tables as files: CSV, JSON Lines and Parquet, written row by row and read back with the same values."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import IO, Any, Protocol

from studies.cells import from_plain, guarded, plain, read, unguarded, written
from studies.registry import Column

#: In the order in which a reader looks for them.
FORMATS = ("csv", "jsonl", "parquet")
#: Rows of a Parquet row group: what is held in memory while one is filled.
GROUP = 10_000
#: Lines of CSV that are joined at a time.
LINES = 500

# A draw can hold every candidate of a large study; the default limit is 128 kB.
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


class Sheet(Protocol):
    """A table being written."""

    def write(self, row: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


def csv_lines(rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows of finished cells as lines of CSV: comma, line feed, quotes only where something needs them."""
    rows = list(rows)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    lines = text.getvalue()
    if "\r" in lines:  # which csv.writer leaves bare, and no reader takes for text
        lines = "".join(",".join(map(_quoted, row)) + "\n" for row in rows)
    return lines.encode("utf-8", "replace")


def _quoted(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


_NEEDS_QUOTES = re.compile('[,"\r\n]')


def csv_header(columns: Sequence[Column], *, bom: bool = False) -> bytes:
    return (b"\xef\xbb\xbf" if bom else b"") + csv_lines([[guarded(one.name) for one in columns]])


class CsvSheet:
    """Comma, UTF-8, one header; text that a spreadsheet could run is guarded."""

    def __init__(self, below: IO[bytes], columns: Sequence[Column], *, bom: bool) -> None:
        self._below = below
        self._plan = [(one.name, one.type) for one in columns]
        self._waiting: list[list[str]] = []
        below.write(csv_header(columns, bom=bom))

    def write(self, row: Mapping[str, Any]) -> None:
        self._waiting.append([written(row[name], kind) for name, kind in self._plan])
        if len(self._waiting) >= LINES:
            self.close()

    def close(self) -> None:
        self._below.write(csv_lines(self._waiting))
        self._waiting = []


class JsonLinesSheet:
    """One JSON object a line, in UTF-8; text as it is, lists and objects as themselves."""

    def __init__(self, below: IO[bytes], columns: Sequence[Column]) -> None:
        self._below = io.BufferedWriter(below, 1 << 16)
        self._plan = [(one.name, one.type) for one in columns]

    def write(self, row: Mapping[str, Any]) -> None:
        values = {name: plain(row[name], kind) for name, kind in self._plan}
        self._below.write(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        self._below.flush()
        self._below.detach()


class ParquetSheet:
    """Typed columns in row groups; lists and objects as JSON text, meaning and unit with each column."""

    def __init__(self, below: IO[bytes], columns: Sequence[Column]) -> None:
        import pyarrow  # here: only exports need it, and it costs every process 60 MB
        from pyarrow import parquet

        self._arrow = pyarrow
        self._plan = [(one.name, one.type) for one in columns]
        kinds = {
            "boolean": pyarrow.bool_(),
            "integer": pyarrow.int64(),
            "number": pyarrow.float64(),
            "datetime": pyarrow.timestamp("us", tz="UTC"),
            "date": pyarrow.date32(),
        }
        self._schema = pyarrow.schema(
            [
                pyarrow.field(
                    one.name,
                    kinds.get(one.type, pyarrow.string()),
                    metadata={"meaning": str(one.meaning), "unit": one.unit, "type": one.type},
                )
                for one in columns
            ]
        )
        self._writer = parquet.ParquetWriter(below, self._schema, compression="zstd")
        self._waiting: list[list[Any]] = [[] for _one in columns]

    def write(self, row: Mapping[str, Any]) -> None:
        for values, (name, kind) in zip(self._waiting, self._plan, strict=True):
            value = row[name]
            values.append(written(value, kind) or None if kind in ("object", "array") else value)
        if not self._waiting or len(self._waiting[0]) >= GROUP:
            self._write_group()

    def close(self) -> None:
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if self._waiting and self._waiting[0]:
            arrays = [
                self._arrow.array(values, type=field.type)
                for values, field in zip(self._waiting, self._schema, strict=True)
            ]
            self._writer.write_batch(self._arrow.record_batch(arrays, schema=self._schema))
            self._waiting = [[] for _one in self._plan]


def sheet(name: str, below: IO[bytes], columns: Sequence[Column], *, bom: bool = False) -> Sheet:
    """A new table in the format ``name``, written to ``below``, which stays open."""
    if name == "csv":
        return CsvSheet(below, columns, bom=bom)
    if name == "jsonl":
        return JsonLinesSheet(below, columns)
    if name == "parquet":
        return ParquetSheet(below, columns)
    raise ValueError(f"no such format: {name}")


class OtherColumns(ValueError):
    """The file has a column that the reader was not told of."""


def rows(
    name: str, below: IO[bytes], columns: Sequence[Column], wanted: set[str] | None
) -> Iterator[dict[str, Any]]:
    """Rows of a table in the format ``name``; only the columns ``wanted``, all where that is ``None``.

    OtherColumns where the file has a column that is not among ``columns``.
    """
    types = {one.name: one.type for one in columns}
    yield from _READERS[name](below, types, wanted)


def _kept(
    header: Sequence[str], types: Mapping[str, str], wanted: set[str] | None
) -> list[tuple[int, str, str]]:
    if not set(header) <= set(types):
        raise OtherColumns(", ".join(sorted(set(header) - set(types))))
    return [(at, name, types[name]) for at, name in enumerate(header) if wanted is None or name in wanted]


def _csv_rows(
    below: IO[bytes], types: Mapping[str, str], wanted: set[str] | None
) -> Iterator[dict[str, Any]]:
    lines = csv.reader(io.TextIOWrapper(below, encoding="utf-8-sig", newline=""))
    kept = _kept([unguarded(name) for name in next(lines)], types, wanted)
    for cells in lines:
        yield {name: read(cells[at], kind) for at, name, kind in kept}


def _json_rows(
    below: IO[bytes], types: Mapping[str, str], wanted: set[str] | None
) -> Iterator[dict[str, Any]]:
    for line in below:
        values = json.loads(line)
        kept = _kept(list(values), types, wanted)
        yield {name: from_plain(values[name], kind) for _at, name, kind in kept}


def _parquet_rows(
    below: IO[bytes], types: Mapping[str, str], wanted: set[str] | None
) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet

    with tempfile.TemporaryFile() as whole:  # Parquet is read from its end, which a zip cannot do
        shutil.copyfileobj(below, whole, 1 << 20)
        whole.seek(0)
        file = parquet.ParquetFile(whole)
        kept = _kept(file.schema_arrow.names, types, wanted)
        for batch in file.iter_batches(GROUP, columns=[name for _at, name, _kind in kept]):
            for values in batch.to_pylist():
                yield {name: _from_parquet(values[name], kind) for _at, name, kind in kept}


def _from_parquet(value: Any, kind: str) -> Any:
    if value is None:
        return "" if kind == "string" else None
    if kind in ("object", "array"):
        return json.loads(value)
    return value.astimezone(UTC) if isinstance(value, datetime) else value


_READERS: dict[str, Callable[[IO[bytes], Mapping[str, str], set[str] | None], Iterator[dict[str, Any]]]] = {
    "csv": _csv_rows,
    "jsonl": _json_rows,
    "parquet": _parquet_rows,
}

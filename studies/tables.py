"""Tidy tables kept by column: what reports are given. Rows are made of them only for who asks for rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload


class Table(Sequence[Mapping[str, Any]]):
    """Rows of a dataset. ``column`` gives one column as it lies, without a dictionary for every row."""

    def __init__(self, columns: Mapping[str, list[Any]], count: int) -> None:
        if any(len(values) != count for values in columns.values()):
            raise ValueError("columns have one entry per row")
        self._columns = dict(columns)
        self._count = count

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Table:
        """The table that holds these rows, which all have the columns of the first."""
        columns: dict[str, list[Any]] = {}
        count = 0
        for row in rows:
            if not count:
                columns = {name: [] for name in row}
            for name, values in columns.items():
                values.append(row[name])
            count += 1
        return cls(columns, count)

    def column(self, name: str) -> list[Any]:
        """Every row's value, in order of the rows. KeyError where the table was read without that column."""
        return self._columns[name] if self._count else []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        names = tuple(self._columns)
        for values in zip(*self._columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> Table: ...

    def __getitem__(self, at: int | slice) -> Mapping[str, Any] | Table:
        if isinstance(at, slice):
            return Table(
                {name: values[at] for name, values in self._columns.items()}, len(range(self._count)[at])
            )
        return {name: values[at] for name, values in self._columns.items()}

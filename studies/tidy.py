"""Making datasets out of query sets: each column says what it means and where its cell comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from studies import columnar
from studies.cells import as_stored
from studies.registry import Column, Dataset

if TYPE_CHECKING:
    from studies.models import Study
    from studies.registry import Text

#: Rows fetched at a time; what keeps memory flat however long the table is.
CHUNK = 2000


@dataclass(frozen=True)
class Made:
    """A column and how its cell is made: from these lookups, through ``make`` where one is given.

    What ``beside`` finds for the study, once per reading of the table, goes to ``make`` as its last argument.
    """

    column: Column
    lookups: tuple[str, ...]
    make: Callable[..., Any] | None = None
    beside: Callable[[Study], Any] | None = None


def column(
    name: str,
    meaning: Text,
    source: str | tuple[str, ...] | None = None,
    *,
    type: str = "string",
    unit: str = "",
    levels: Sequence[str] = (),
    tier: str = "public",
    make: Callable[..., Any] | None = None,
    beside: Callable[[Study], Any] | None = None,
) -> Made:
    """A column read from ``source``: one lookup (default: the name) or several, which then go to ``make``."""
    lookups = (source or name,) if not isinstance(source, tuple) else source
    return Made(Column(name, meaning, unit, tuple(levels), tier, type), lookups, make, beside)


def dataset(
    key: str,
    title: Text,
    *,
    models: tuple[str, ...],
    query: Callable[[Study], QuerySet[Any]],
    columns: Sequence[Made],
    primary_key: tuple[str, ...],
    counted: str = "",
) -> Dataset:
    """A dataset whose rows come from one query, read in chunks."""
    # Each lookup once, however many columns are made from it: a JSON field is decoded a single time per row.
    lookups = list(dict.fromkeys(lookup for made in columns for lookup in made.lookups))
    places = [tuple(lookups.index(lookup) for lookup in made.lookups) for made in columns]

    def rows(study: Study) -> Iterator[dict[str, Any]]:
        found = [() if made.beside is None else (made.beside(study),) for made in columns]
        plan = list(zip(columns, places, found, strict=True))
        for values in query(study).values_list(*lookups).iterator(chunk_size=CHUNK):
            cells: dict[str, Any] = {}
            for made, at, beside in plan:
                value = values[at[0]] if made.make is None else made.make(*(values[i] for i in at), *beside)
                cells[made.column.name] = as_stored(value, made.column.type)
            yield cells

    by_column = partial(columnar.table, query, columns)
    shown = tuple(made.column for made in columns)
    return Dataset(key, title, models, shown, rows, primary_key, counted, by_column)

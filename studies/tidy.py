"""Making datasets out of query sets: each column says what it means and where its cell comes from.

A table can be read in two ways that give the same cells: ``rows`` makes each in Python; ``selected`` is one
query of all its columns, for a database that writes the file itself (``studies.copying``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.db.models import Count, F, QuerySet
from django.db.models.functions import TruncDate

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
    ``sql(study)`` gives the expression of what ``make`` makes, or None where this database cannot say it.
    """

    column: Column
    lookups: tuple[str, ...]
    make: Callable[..., Any] | None = None
    beside: Callable[[Study], Any] | None = None
    sql: Callable[[Study], Any] | None = None

    def expression(self, study: Study) -> Any:
        if self.sql is not None:
            return self.sql(study)
        return F(self.lookups[0]) if self.make is None else None


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
    sql: Callable[[Study], Any] | None = None,
) -> Made:
    """A column read from ``source``: one lookup (default: the name) or several, which then go to ``make``."""
    lookups = (source or name,) if not isinstance(source, tuple) else source
    return Made(Column(name, meaning, unit, tuple(levels), tier, type), lookups, make, beside, sql)


@dataclass(frozen=True, kw_only=True)
class TidyDataset(Dataset):
    """A dataset made from one query. ``language`` is the lookup by which its rows belong to one, or ""."""

    query: Callable[[Study], QuerySet[Any]]
    made: tuple[Made, ...]
    language: str = ""

    def found(self, study: Study, language: str = "") -> QuerySet[Any]:
        """Its rows, only those of the ``language`` where one is named and rows have one."""
        rows = self.query(study)
        return rows.filter(**{self.language: language}) if language and self.language else rows

    def selected(self, study: Study, columns: Sequence[Column], language: str = "") -> QuerySet[Any] | None:
        """One query of these columns, in order, as the database has their values; None where it cannot.

        A column that is a time here and a day in ``columns`` becomes the day in the study's time zone.
        """
        by_name = {one.column.name: one for one in self.made}
        found = {}
        for at, shown in enumerate(columns):
            made = by_name[shown.name]
            expression = made.expression(study)
            if expression is None:
                return None
            if (made.column.type, shown.type) == ("datetime", "date"):
                expression = TruncDate(expression, tzinfo=ZoneInfo(study.time_zone))
            found[f"cell_{at}"] = expression
        query: QuerySet[Any] = self.found(study, language).annotate(**found).values_list(*found)
        return query

    def reasons(self, study: Study, language: str = "") -> dict[str, int]:
        """How many rows have each level of the column ``counted``, empty ones left out."""
        if not self.counted:
            return {}
        (made,) = (one for one in self.made if one.column.name == self.counted)
        found = (
            self.found(study, language).order_by().annotate(level=made.expression(study)).values_list("level")
        )
        return {str(level): rows for level, rows in found.annotate(rows_of_it=Count("pk")) if level}

    def read(self, study: Study, language: str = "") -> Iterator[dict[str, Any]]:
        """Its rows, each made in Python."""
        names = [one.column.name for one in self.made]
        for cells in self._cells(study, language):
            yield dict(zip(names, cells, strict=True))

    def _cells(self, study: Study, language: str) -> Iterator[list[Any]]:
        # Each lookup once, however many columns are made from it: JSON is decoded a single time per row.
        lookups = list(dict.fromkeys(lookup for made in self.made for lookup in made.lookups))
        plan = []
        for made in self.made:
            places = tuple(lookups.index(lookup) for lookup in made.lookups)
            beside = () if made.beside is None else (made.beside(study),)
            plan.append((made.make, places, beside, made.column.type))
        for values in self.found(study, language).values_list(*lookups).iterator(chunk_size=CHUNK):
            yield [
                as_stored(
                    values[at[0]] if make is None else make(*(values[i] for i in at), *beside),
                    kind,
                )
                for make, at, beside, kind in plan
            ]


def dataset(
    key: str,
    title: Text,
    *,
    models: tuple[str, ...],
    query: Callable[[Study], QuerySet[Any]],
    columns: Sequence[Made],
    primary_key: tuple[str, ...],
    counted: str = "",
    language: str = "",
    outcomes: bool = False,
) -> TidyDataset:
    """A dataset whose rows come from one query, read in chunks."""

    def rows(study: Study) -> Iterator[dict[str, Any]]:
        return made.read(study)

    made = TidyDataset(
        key=key,
        title=title,
        models=models,
        columns=tuple(one.column for one in columns),
        rows=rows,
        primary_key=primary_key,
        counted=counted,
        by_column=partial(columnar.table, query, columns),
        query=query,
        made=tuple(columns),
        language=language,
        outcomes=outcomes,
    )
    return made

"""Statements whose SQL is made once per process, for the requests that everybody sends all the time.

Django compiles a query anew each time; for a row with its related rows that costs several times what running
it does. Reaches into Django's query compiler, so a test compares a prepared query with the plain one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=models.Model)


class _Plan(NamedTuple):
    sql: str
    params: tuple[Any, ...]
    places: tuple[tuple[int, str], ...]  # position among the parameters, name of the value
    compiler: Any
    converters: Any
    columns: slice  # of the model's own fields; the related rows follow
    attributes: Sequence[str]
    populators: Sequence[Any]


class _Prepared:
    """What both forms share: ``build`` makes the query set from the named values; here it is given samples.

    The samples must differ from each other and from every constant in the query: they are found again among
    its parameters.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any, Any]], **samples: Any) -> None:
        self.build = build
        self.samples = samples
        self._plans: dict[str, _Plan] = {}

    def _fetch(self, values: Mapping[str, Any]) -> tuple[_Plan, Sequence[Any] | None]:
        plan, rows = self._fetch_all(values)
        return plan, next(iter(rows), None)

    def _fetch_all(self, values: Mapping[str, Any]) -> tuple[_Plan, Iterable[Sequence[Any]]]:
        connection = connections[DEFAULT_DB_ALIAS]
        plan = self._plans.get(connection.vendor)
        if plan is None:
            plan = self._plans[connection.vendor] = self._compile()
        params = list(plan.params)
        for position, name in plan.places:
            params[position] = values[name]
        with connection.cursor() as cursor:
            cursor.execute(plan.sql, params)
            rows = cursor.fetchall()
        if rows and plan.converters:
            return plan, plan.compiler.apply_converters(rows, plan.converters)
        return plan, rows

    def _limited(self) -> models.QuerySet[Any, Any]:
        """What is compiled: the first row alone."""
        return self.build(**self.samples).order_by()[:1]

    def _compile(self) -> _Plan:
        compiler = self._limited().query.get_compiler(using=DEFAULT_DB_ALIAS)
        sql, params = compiler.as_sql()
        places = tuple(
            (position, name)
            for position, param in enumerate(params)
            for name, sample in self.samples.items()
            if param == sample
        )
        missing = set(self.samples) - {name for _, name in places}
        if missing:
            raise ValueError(f"no place in the query for {', '.join(sorted(missing))}")
        columns, attributes, populators = slice(0), [], []
        if compiler.klass_info:
            selected = compiler.klass_info["select_fields"]
            columns = slice(selected[0], selected[-1] + 1)
            attributes = [column[0].target.attname for column in compiler.select[columns]]
            # Django 5.2 takes three arguments; the stubs are those of a later version.
            populators = get_related_populators(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]
        converters = compiler.get_converters([column[0] for column in compiler.select])
        return _Plan(sql, tuple(params), places, compiler, converters, columns, attributes, populators)


class Prepared(_Prepared, Generic[M]):
    """``Prepared(build, name=sample, …)`` of a query set of models, with ``select_related`` and ``defer``."""

    def __init__(self, build: Callable[..., models.QuerySet[M]], **samples: Any) -> None:
        super().__init__(build, **samples)

    def get(self, **values: Any) -> M | None:
        """The row for these values, or None."""
        plan, row = self._fetch(values)
        if row is None:
            return None
        model: type[M] = plan.compiler.klass_info["model"]
        found = model.from_db(DEFAULT_DB_ALIAS, plan.attributes, row[plan.columns])
        for populator in plan.populators:
            populator.populate(row, found)
        return found


class PreparedValues(_Prepared):
    """``PreparedValues(build, name=sample, …)`` of a query set with ``values_list``."""

    def get(self, **values: Any) -> tuple[Any, ...] | None:
        """The row's values for these values, or None."""
        _plan, row = self._fetch(values)
        return None if row is None else tuple(row)


class PreparedRows(_Prepared):
    """``PreparedRows(build, name=sample, …)`` of a query set with ``values_list``, in its order."""

    def all(self, **values: Any) -> list[tuple[Any, ...]]:
        """The values of every row."""
        _plan, rows = self._fetch_all(values)
        return [tuple(row) for row in rows]

    def _limited(self) -> models.QuerySet[Any, Any]:
        return self.build(**self.samples)


class _Statement(Generic[M]):
    """What writing has in common: the columns of ``model`` by their fields' names, the SQL once made."""

    def __init__(self, model: type[M]) -> None:
        self.model = model
        self._sql: dict[str, str] = {}

    @cached_property
    def _columns(self) -> list[models.Field[Any, Any]]:
        """Those of the values, in their order."""
        raise NotImplementedError

    def _write(self, values: Sequence[Any]) -> int:
        """Execute with ``values`` as the database takes them; the number of rows."""
        with self._executed(values) as cursor:
            return int(cursor.rowcount)

    @contextmanager
    def _executed(self, values: Sequence[Any]) -> Iterator[Any]:
        connection = connections[DEFAULT_DB_ALIAS]
        sql = self._sql.get(connection.vendor)
        if sql is None:
            names = [connection.ops.quote_name(str(column.column)) for column in self._columns]
            table = connection.ops.quote_name(self.model._meta.db_table)
            sql = self._sql[connection.vendor] = self._written(table, names)
        params = [
            column.get_db_prep_save(value, connection)
            for column, value in zip(self._columns, values, strict=True)
        ]
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            yield cursor

    def _written(self, table: str, names: list[str]) -> str:
        raise NotImplementedError


class PreparedUpdate(_Statement[M]):
    """``PreparedUpdate(Model, "field", …, guard="field")``: writes these columns of one row, found by its key
    and by what ``guard`` was when it was read.
    """

    def __init__(self, model: type[M], *fields: str, guard: str) -> None:
        super().__init__(model)
        self.fields = (*fields, guard, "id")

    def write(self, pk: int, *values: Any, was: Any) -> bool:
        """Whether the row was still as it was read; nothing is written where it was not."""
        return bool(self._write([*values, was, pk]))

    @cached_property
    def _columns(self) -> list[models.Field[Any, Any]]:
        columns = {column.name: column for column in self.model._meta.concrete_fields}
        return [columns[name] for name in self.fields]

    def _written(self, table: str, names: list[str]) -> str:
        *changed, guard, key = (f"{name} = %s" for name in names)
        return f"UPDATE {table} SET {', '.join(changed)} WHERE {guard} AND {key}"  # noqa: S608


class PreparedInsert(_Statement[M]):
    """``PreparedInsert(Model)``: stores a new row as it stands. Its key is not read back, no signal sent."""

    def write(self, row: M) -> None:
        self._write(self._values(row))

    @cached_property
    def _columns(self) -> list[models.Field[Any, Any]]:
        return [column for column in self.model._meta.concrete_fields if column.name != "id"]

    def _values(self, row: M) -> list[Any]:
        return [column.pre_save(row, add=True) for column in self._columns]

    def _written(self, table: str, names: list[str]) -> str:
        places = ", ".join(["%s"] * len(names))
        return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})"  # noqa: S608


class PreparedCreate(PreparedInsert[M]):
    """``PreparedCreate(Model)``: the same, and the row then has its key, as after ``objects.create``."""

    def write(self, row: M) -> None:
        with self._executed(self._values(row)) as cursor:
            row.pk = cursor.fetchone()[0]
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS

    def _written(self, table: str, names: list[str]) -> str:
        return f'{super()._written(table, names)} RETURNING "id"'

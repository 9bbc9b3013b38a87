"""Single-row queries whose SQL is made once per process, for the requests that everybody sends all the time.

Django compiles a query anew each time; for a row with its related rows that costs several times what running
it does. Reaches into Django's query compiler, so a test compares a prepared query with the plain one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=models.Model)


class _Plan(NamedTuple):
    sql: str
    params: tuple[Any, ...]
    places: tuple[tuple[int, str], ...]  # position in params → name of the value
    converters: Any
    compiler: Any
    start: int
    end: int
    attributes: Sequence[str]
    populators: Sequence[Any]


class Prepared(Generic[M]):
    """``Prepared(build, name=sample, …)``: ``build`` makes the query set from the named values.

    The samples must differ from each other and from every constant in the query: they are found again among
    its parameters. ``get`` gives the row or None.
    """

    def __init__(self, build: Callable[..., models.QuerySet[M]], **samples: Any) -> None:
        self.build = build
        self.samples = samples
        self._plans: dict[str, _Plan] = {}

    def get(self, **values: Any) -> M | None:
        connection = connections[DEFAULT_DB_ALIAS]
        plan = self._plans.get(connection.vendor)
        if plan is None:
            plan = self._plans[connection.vendor] = self._compile()
        params = list(plan.params)
        for position, name in plan.places:
            params[position] = values[name]
        with connection.cursor() as cursor:
            cursor.execute(plan.sql, params)
            row = cursor.fetchone()
        if row is None:
            return None
        row = next(iter(plan.compiler.apply_converters([row], plan.converters)))
        model: type[M] = plan.compiler.klass_info["model"]
        found = model.from_db(DEFAULT_DB_ALIAS, plan.attributes, row[plan.start : plan.end])
        for populator in plan.populators:
            populator.populate(row, found)
        return found

    def _compile(self) -> _Plan:
        query = self.build(**self.samples).order_by()[:1].query
        compiler = query.get_compiler(using=DEFAULT_DB_ALIAS)
        sql, params = compiler.as_sql()
        places = tuple(
            (position, name)
            for position, param in enumerate(params)
            for name, sample in self.samples.items()
            if param == sample
        )
        if {name for _, name in places} != set(self.samples):
            raise ValueError(f"values without a place in the query: {set(self.samples)}")
        selected = compiler.klass_info["select_fields"]
        start, end = selected[0], selected[-1] + 1
        return _Plan(
            sql,
            tuple(params),
            places,
            compiler.get_converters([column[0] for column in compiler.select]),
            compiler,
            start,
            end,
            [column[0].target.attname for column in compiler.select[start:end]],
            get_related_populators(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS),  # type: ignore[call-arg]
        )

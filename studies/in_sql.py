"""Expressions for columns made from JSON: on either database what ``make`` gives in Python."""

from __future__ import annotations

from typing import Any

from django.db.models import (
    BigIntegerField,
    BooleanField,
    Field,
    FloatField,
    Func,
    JSONField,
    TextField,
)

_FIELDS: dict[str, type[Field[Any, Any]]] = {
    "string": TextField,
    "number": FloatField,
    "integer": BigIntegerField,
    "boolean": BooleanField,
}
# Beyond what a double holds there is no number; PostgreSQL would stop there.
_LARGEST = "1.7976931348623158e308"
_OF_JSONB = {
    "string": "CASE WHEN jsonb_typeof({at}) = 'string' THEN {at} #>> '{{}}' END",
    "number": (
        "CASE WHEN jsonb_typeof({at}) = 'number' THEN"
        " CASE WHEN abs(({at})::numeric) <= " + _LARGEST + " THEN ({at})::float8 END END"
    ),
    "integer": (
        "CASE WHEN jsonb_typeof({at}) = 'number' THEN CASE WHEN scale(({at})::numeric) = 0"
        " OR abs(({at})::numeric) <= 9007199254740992 THEN trunc(({at})::numeric) END END"
    ),
    "boolean": "CASE WHEN jsonb_typeof({at}) = 'boolean' THEN ({at})::boolean END",
}
_OF_JSON_TEXT = {
    "string": "CASE WHEN json_type({of}, {path}) = 'text' THEN {of} ->> {path} END",
    "number": "CASE WHEN json_type({of}, {path}) IN ('integer', 'real') THEN json_extract({of}, {path}) END",
    # A whole number as it is written: it may be beyond 64 bits.
    "integer": (
        "CASE json_type({of}, {path}) WHEN 'integer' THEN {of} -> {path}"
        " WHEN 'real' THEN CASE WHEN abs(json_extract({of}, {path})) <= 9007199254740992"
        " THEN CAST(json_extract({of}, {path}) AS INTEGER) END END"
    ),
    "boolean": "CASE json_type({of}, {path}) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END",
}


class Inside(Func):
    """What an object holds under ``name``, where that is of the type ``kind``; null where not."""

    def __init__(self, of: Any, name: str, kind: str) -> None:
        if not name.isidentifier():
            raise ValueError("a name without quotes")
        super().__init__(of, output_field=_FIELDS[kind]())
        self.name, self.kind = name, kind

    def as_postgresql(self, compiler: Any, connection: Any, **rest: Any) -> Any:
        of, params = compiler.compile(self.source_expressions[0])
        sql = _OF_JSONB[self.kind].format(at=f"({of} -> '{self.name}')")
        return sql, _repeated(params, sql.count(of))

    def as_sqlite(self, compiler: Any, connection: Any, **rest: Any) -> Any:
        of, params = compiler.compile(self.source_expressions[0])
        sql = _OF_JSON_TEXT[self.kind].format(of=of, path=f"'$.{self.name}'")
        return sql, _repeated(params, sql.count(of))


class Without(Func):
    """An object without one of its keys; the empty object in the place of anything else."""

    def __init__(self, of: Any, name: str) -> None:
        if not name.isidentifier():
            raise ValueError("a name without quotes")
        super().__init__(of, output_field=JSONField())
        self.name = name

    def as_postgresql(self, compiler: Any, connection: Any, **rest: Any) -> Any:
        of, params = compiler.compile(self.source_expressions[0])
        sql = f"CASE WHEN jsonb_typeof({of}) = 'object' THEN {of} - '{self.name}' ELSE '{{}}'::jsonb END"
        return sql, _repeated(params, 2)

    def as_sqlite(self, compiler: Any, connection: Any, **rest: Any) -> Any:
        of, params = compiler.compile(self.source_expressions[0])
        sql = f"CASE WHEN json_type({of}) = 'object' THEN json_remove({of}, '$.{self.name}') ELSE '{{}}' END"
        return sql, _repeated(params, 2)


class Replaced(Func):
    """An object with the text ``by`` in the place of what it holds under ``name``, if it has that name."""

    def __init__(self, of: Any, name: str, by: Any) -> None:
        if not name.isidentifier():
            raise ValueError("a name without quotes")
        super().__init__(of, by, output_field=JSONField())
        self.name = name

    def as_postgresql(self, compiler: Any, connection: Any, **rest: Any) -> Any:
        (of, params), (by, more) = (compiler.compile(one) for one in self.source_expressions)
        sql = (
            f"CASE WHEN jsonb_exists({of}, '{self.name}')"
            f" THEN {of} || jsonb_build_object('{self.name}', {by}) ELSE {of} END"
        )
        return sql, (*_repeated(params, 2), *more, *params)

    def as_sqlite(self, compiler: Any, connection: Any, **rest: Any) -> Any:
        (of, params), (by, more) = (compiler.compile(one) for one in self.source_expressions)
        return f"json_replace({of}, '$.{self.name}', {by})", (*params, *more)


class JsonText(Func):
    """A value of JSON as text: a string bare, everything else as JSON. PostgreSQL alone says this exactly."""

    def __init__(self, of: Any) -> None:
        super().__init__(of, output_field=TextField())

    def as_postgresql(self, compiler: Any, connection: Any, **rest: Any) -> Any:
        of, params = compiler.compile(self.source_expressions[0])
        return f"CASE WHEN jsonb_typeof({of}) = 'string' THEN {of} #>> '{{}}' ELSE {of}::text END", (
            _repeated(params, 3)
        )


def _repeated(params: Any, times: int) -> tuple[Any, ...]:
    return tuple(params) * times


def inside(value: Any, name: str, kind: str) -> Any:
    """What :class:`Inside` gives, in Python."""
    found = value.get(name) if isinstance(value, dict) else None
    if kind == "string":
        return found if isinstance(found, str) else None
    if kind == "boolean":
        return found if isinstance(found, bool) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    if kind == "number" or isinstance(found, int):
        return found
    return int(found) if abs(found) <= 2**53 else None  # beyond, a double is no count

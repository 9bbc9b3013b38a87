"""The schema as something to read: chapters of operations, their parameters and fields, a command to try."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

Schema = Mapping[str, Any]
DEEPEST = 3  # of nested objects shown
TITLES = {
    "about": gettext_lazy("Entry"),
    "studies": gettext_lazy("Studies"),
    "participants": gettext_lazy("Participants"),
    "dialogues": gettext_lazy("Dialogues"),
    "verdicts": gettext_lazy("Verdicts"),
    "scores": gettext_lazy("Scores"),
    "reports": gettext_lazy("Reports"),
    "exports": gettext_lazy("Exports"),
}
SAMPLES = {"slug": "my-study", "name": "success-rate", "code": "CODE"}


@dataclass(frozen=True)
class Line:
    """A parameter or field. ``type`` in words; ``levels`` are the values it may have."""

    name: str
    type: str
    meaning: str
    levels: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True)
class Operation:
    """One method of one address, ready for the page."""

    anchor: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[Line]
    body: list[Line]
    status: str
    types: list[str]
    fields: list[Line]
    paged: bool
    errors: list[str]
    example: str


@dataclass(frozen=True)
class Chapter:
    key: str
    title: Any
    operations: list[Operation]


def chapters(schema: Schema, root: str) -> list[Chapter]:
    """Operations by their first tag, in the order of ``TITLES``; ``root`` is scheme and host for examples."""
    found: dict[str, list[Operation]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            one = _operation(schema, root, path, method, operation)
            found.setdefault(operation["tags"][0], []).append(one)
    return [Chapter(key, title, found[key]) for key, title in TITLES.items() if key in found]


def _operation(schema: Schema, root: str, path: str, method: str, operation: Schema) -> Operation:
    status, good = next((s, r) for s, r in operation["responses"].items() if s.startswith("2"))
    content = good.get("content", {})
    shape = resolved(schema, content.get("application/json", {}).get("schema", {}))
    paged = "results" in shape.get("properties", {})
    if paged:
        shape = resolved(schema, shape["properties"]["results"]["items"])
    elif shape.get("type") == "array":
        shape = resolved(schema, shape["items"])
    asked = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return Operation(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        description=operation.get("description", ""),
        parameters=[
            _line(
                p["name"], resolved(schema, p["schema"]), p.get("description", ""), p.get("required", False)
            )
            for p in operation.get("parameters", [])
            if p["in"] == "query"
        ],
        body=list(_fields(schema, resolved(schema, asked))),
        status=status,
        types=sorted(content),
        fields=list(_fields(schema, shape)),
        paged=paged,
        errors=sorted(s for s in operation["responses"] if s[0] in "45"),
        example=_example(root, path, method, operation),
    )


def resolved(schema: Schema, part: Schema) -> Schema:
    """``part`` with its reference followed; a single ``allOf`` counts as one."""
    if "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[1]
        found: Schema = schema["components"]["schemas"][name]
        return found
    for key in ("allOf", "oneOf"):
        inside = [resolved(schema, one) for one in part.get(key, ())]
        if inside:
            levels = [level for one in inside for level in one.get("enum", ())]
            rest = {name: value for name, value in part.items() if name != key}
            return {**inside[0], **({"enum": levels} if levels else {}), **rest}
    return part


def _fields(schema: Schema, shape: Schema, before: str = "", depth: int = 0) -> Iterator[Line]:
    required = shape.get("required", ())
    for name, part in shape.get("properties", {}).items():
        found = resolved(schema, part)
        meaning = part.get("description", "")
        items = resolved(schema, found.get("items", {}))
        inner = items if found.get("type") == "array" else found
        yield _line(before + name, found, meaning, name in required, items)
        if inner.get("properties") and depth < DEEPEST:
            mark = "[]." if inner is items else "."
            yield from _fields(schema, inner, f"{before}{name}{mark}", depth + 1)


def _line(name: str, shape: Schema, meaning: str, required: bool, items: Schema | None = None) -> Line:
    levels = shape.get("enum") or (items or {}).get("enum") or ()
    return Line(
        name=name,
        type=_type(shape, items),
        meaning=meaning,
        levels=tuple(str(level) for level in levels if level not in ("", None)),
        required=required,
    )


def _type(shape: Schema, items: Schema | None) -> str:
    names = {
        "string": _("text"),
        "integer": _("whole number"),
        "number": _("number"),
        "boolean": _("true or false"),
        "object": _("object"),
    }
    if shape.get("type") == "array":
        inner = names.get((items or {}).get("type", ""), _("object"))
        return _("list: %(of)s") % {"of": inner}
    word = {"date-time": _("time"), "date": _("day"), "uri": _("address")}.get(shape.get("format", ""))
    found = word or names.get(shape.get("type", ""), _("text"))
    least, most = shape.get("minimum"), shape.get("maximum")
    if least is not None and most is not None:
        found = _("%(type)s from %(least)s to %(most)s") % {"type": found, "least": least, "most": most}
    return _("%(type)s or null") % {"type": found} if shape.get("nullable") else found


def _example(root: str, path: str, method: str, operation: Schema) -> str:
    address = root + re.sub(r"\{(\w+)\}", lambda place: SAMPLES.get(place[1], "CODE"), path)
    words = ["curl"]
    security = operation.get("security", [])
    if any("token" in way for way in security):
        words.append('-H "Authorization: Bearer $TOKEN"')
    if method == "post":
        words.append("-X POST -H 'Content-Type: application/json' -d '{\"tier\": \"controlled\"}'")
    if path.endswith("/file"):
        words.append("-O -J")
    return " ".join([*words, address])

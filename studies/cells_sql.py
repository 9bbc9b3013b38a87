"""The rules of ``studies.cells`` in SQL, so that a database writes a table's cells itself.

Each function gives the expression of a cell for a column of the query below it, named by ``ref``. What SQLite
cannot say (the shortest text of a number, JSON in one order) it hands on as it is: see ``studies.copying``.
"""

from __future__ import annotations

from studies.cells import ALWAYS, BLANKS, STARTS

NUMBER = r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
# Code points that begin most cells: digits, and from A to z. None of them is dangerous.
PLAIN = "({at} BETWEEN 65 AND 122 OR {at} BETWEEN 48 AND 57)"


def quoted(text: str) -> str:
    """``text`` as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def cell(vendor: str, kind: str, ref: str) -> str:
    """SQL of a cell of that type on PostgreSQL (finished text) or SQLite; ValueError for other types."""
    rules = _POSTGRESQL if vendor == "postgresql" else _SQLITE
    if kind not in rules:
        raise ValueError(f"no such type of column: {kind}")
    return rules[kind].replace("{ref}", ref)


def _coded(text: str) -> str:
    r"""Characters as \u0009 and the like: statements stay on one line, as psql's \copy wants them."""
    return "".join(f"\\u{ord(one):04x}" for one in text)


_RUNS = f"^([{_coded(ALWAYS)}]|[{_coded(BLANKS)}]*[{_coded(STARTS)}])"
# An empty cell is NULL throughout: COPY would write an empty text as "".
_POSTGRESQL = {
    "string": (
        f"CASE WHEN {PLAIN.format(at='ascii({ref}::text)')} THEN {{ref}}::text"
        f" WHEN {{ref}}::text ~ {quoted(_RUNS)}"
        " AND {ref}::text !~ " + quoted(NUMBER) + " THEN '''' || {ref}::text"
        " ELSE nullif({ref}::text, '') END"
    ),
    "boolean": "{ref}::text",
    "integer": "{ref}",
    # As Python's repr: whole numbers end in .0, and exponents begin at 1e16, not at 1e15. From 2**53 on,
    # which no column comes near, PostgreSQL may take one digit more to say the same number.
    "number": (
        "CASE WHEN abs({ref}::float8) < 1e15 THEN {ref}::float8::text"
        " || CASE WHEN trunc({ref}::float8) = {ref}::float8 THEN '.0' ELSE '' END"
        " WHEN {ref}::float8 IN ('NaN', 'Infinity', '-Infinity') THEN NULL"
        " WHEN abs({ref}::float8) < 1e16 THEN {ref}::float8::text::numeric::text"
        " || CASE WHEN trunc({ref}::float8) = {ref}::float8 THEN '.0' ELSE '' END"
        " ELSE {ref}::float8::text END"
    ),
    "datetime": """to_char({ref} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')""",
    "date": "to_char({ref}::timestamp, 'YYYY-MM-DD')",
    "object": "nullif({ref}::text, 'null')",
    "array": "nullif({ref}::text, 'null')",
}

# SQLite has no regular expressions of its own. What begins like a number is one where it compares as a number
# (a text that is none sorts after all numbers) and has only the signs, dots and exponents that ours have.
_IS_NUMBER = (
    "({ref} <= CAST(9e999 AS REAL) AND {ref} NOT GLOB '*[^0-9.eE+-]*' AND {ref} NOT GLOB '*.'"
    " AND {ref} NOT GLOB '*.[eE]*' AND {ref} GLOB '[+-][0-9]*')"
)


def _listed(text: str) -> str:
    return ", ".join(str(ord(one)) for one in text)


_SQLITE = {
    "string": (
        f"CASE WHEN {PLAIN.format(at='unicode({ref})')} THEN {{ref}}"
        f" WHEN unicode({{ref}}) IN ({_listed(ALWAYS)}) THEN '''' || {{ref}}"
        f" WHEN unicode(ltrim({{ref}}, char({_listed(BLANKS)}))) IN ({_listed(STARTS)}) AND NOT {_IS_NUMBER}"
        " THEN '''' || {ref} ELSE {ref} END"
    ),
    "boolean": "CASE WHEN {ref} THEN 'true' WHEN {ref} IS NOT NULL THEN 'false' END",
    "integer": "{ref}",
    "number": "CASE WHEN abs({ref}) < 9e999 THEN CAST({ref} AS REAL) END",
    "datetime": (
        "substr({ref}, 1, 10) || 'T' || substr({ref}, 12, 8) || '.'"
        " || CASE WHEN length({ref}) > 19 THEN substr({ref}, 21, 6) ELSE '000000' END || '+00:00'"
    ),
    "date": "substr({ref}, 1, 10)",
    "object": "{ref}",
    "array": "{ref}",
}

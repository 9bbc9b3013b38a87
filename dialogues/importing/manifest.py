"""Read a manifest (CSV or JSONL) into raw rows with line numbers. Knows columns, not what cells mean."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.columns import MANIFEST, Layout
from dialogues.importing.encodings import read_text
from dialogues.importing.notes import Note
from turingsite.errors import Invalid

DELIMITERS = ",;\t|"
MAX_CELL = 100_000
MOST_COLUMNS = 1_000


class ManifestRefused(Invalid):
    """The file as a whole can't be used; the message says what to change."""


@dataclass
class RawRow:
    """One row as written: cells by column name (text; lists and numbers where JSON had them)."""

    line: int
    data: dict[str, Any]
    notes: list[Note] = field(default_factory=list)


@dataclass
class Manifest:
    rows: list[RawRow]
    notes: list[Note]


def read_manifest(data: bytes, name: str, layout: Layout = MANIFEST) -> Manifest:
    """Read ``data``; ``name`` tells JSONL from CSV in doubt. Raises :class:`ManifestRefused`."""
    if len(data) > layout.most_bytes:
        raise ManifestRefused(
            "too_big",
            gettext_noop("The manifest is larger than %(megabytes)s MB. Divide it."),
            {"megabytes": layout.most_bytes // 1_000_000},
        )
    try:
        text, guessed = read_text(data)
    except Invalid as error:
        raise ManifestRefused(error.code, error.message, error.params) from error
    if not text.strip("\ufeff \t\r\n,;|"):
        raise ManifestRefused("no_rows", gettext_noop("The manifest is empty."))
    said: list[Note] = []
    if guessed:
        said.append(
            notes.warning(
                "encoding_guessed",
                gettext_noop(
                    "The file doesn't say its encoding; it was read as %(encoding)s. Check the characters."
                ),
                encoding=guessed,
            )
        )
    text = text.lstrip("\ufeff")
    rows = list(_jsonl(text, said, layout) if _is_json(text, name) else _csv(text, said, layout))
    if not rows:
        raise ManifestRefused("no_rows", gettext_noop("The manifest has a header, but no rows."))
    if len(rows) > layout.most_rows:
        raise ManifestRefused(
            "too_many_rows",
            gettext_noop("The manifest has more than %(rows)s rows. Divide it."),
            {"rows": layout.most_rows},
        )
    for row in rows:
        _refuse_unstorable(row)
    return Manifest(rows, said)


def _refuse_unstorable(row: RawRow) -> None:
    """Text with NUL or half a character, which no database keeps: told, and the cells dropped."""
    written = json.dumps(row.data, ensure_ascii=False)
    if "\\u0000" in written or any("\ud800" <= c <= "\udfff" for c in written):
        row.data = {}
        row.notes.append(
            notes.refused(
                "control_characters", gettext_noop("This row holds characters that can't be stored.")
            )
        )


def _is_json(text: str, name: str) -> bool:
    first = text.lstrip()[:1]
    if first == "[":
        raise ManifestRefused(
            "json_list",
            gettext_noop("This is one JSON list. Write one object a line (JSONL), without the brackets."),
        )
    return first == "{" or name.lower().endswith((".jsonl", ".ndjson", ".json"))


# CSV


def _csv(text: str, said: list[Note], layout: Layout) -> Iterator[RawRow]:
    # Only these end a line: a cell may hold a form feed or a Unicode line separator.
    lines = [f"{line}\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    start = next(i for i, line in enumerate(lines) if line.strip(" \t\n,;|"))
    if lines[start].lower().startswith("sep=") and len(lines[start].strip()) == 5:
        start += 1  # Excel's own hint
    csv.field_size_limit(MAX_CELL)
    try:
        headers = [(d, next(csv.reader([lines[start]], delimiter=d), [])) for d in DELIMITERS]
    except csv.Error as error:
        raise _wide_header() from error
    delimiter, header = max(headers, key=lambda one: _known_columns(one[1], layout))
    if len(header) > MOST_COLUMNS:
        raise _wide_header()
    names = _columns(header, said, layout)
    at = start + 1
    while at < len(lines):
        first, reader = at, csv.reader(lines[at:], delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                row = _csv_row(at + 1, cells, names)
                at = first + reader.line_num
                if row:
                    yield row
        except csv.Error:
            # A quotation mark that is never closed would swallow the rest: this line alone is refused.
            yield RawRow(
                at + 1,
                {},
                [
                    notes.refused(
                        "broken_row",
                        gettext_noop(
                            "This row can't be read: check its quotation marks "
                            "(a mark inside a cell is doubled)."
                        ),
                    )
                ],
            )
            at += 1


def _wide_header() -> ManifestRefused:
    return ManifestRefused(
        "wide_header",
        gettext_noop(
            "The first line names more than %(most)s columns, or holds a cell that is far too long."
        ),
        {"most": MOST_COLUMNS},
    )


def _known_columns(header: list[str], layout: Layout) -> tuple[int, int]:
    keys = [layout.named(cell) for cell in header]
    return sum(key in layout.by_name for key in keys), len(keys)


def _columns(header: list[str], said: list[Note], layout: Layout) -> list[str]:
    """Column names by position; an unknown one becomes "" and is told. Raises where one is missing."""
    keys = [layout.named(cell) for cell in header]
    while keys and not keys[-1]:
        keys.pop()
    twice = sorted({key for key in keys if key and keys.count(key) > 1})
    if twice:
        raise ManifestRefused(
            "column_twice",
            gettext_noop("These columns appear more than once: %(columns)s."),
            {"columns": ", ".join(twice)},
        )
    known = layout.by_name
    unknown = [key for key in keys if key and key not in known]
    absent = [name for name in known if name not in keys]
    missing = layout.missing(keys)
    if missing:
        raise _wrong_header(
            missing, {key: meant for key in unknown if (meant := layout.probably_meant(key, missing))}, layout
        )
    for key in unknown:
        meant = layout.probably_meant(key, absent)
        text = (
            gettext_noop("The column “%(column)s” is not known and is left out; did you mean “%(meant)s”?")
            if meant
            else gettext_noop("The column “%(column)s” is not known and is left out.")
        )
        said.append(
            notes.warning(
                "unknown_column", text, column=notes.shortened(key), **({"meant": meant} if meant else {})
            )
        )
    return [key if key in known else "" for key in keys]


def _wrong_header(missing: list[str], meant: dict[str, str], layout: Layout) -> ManifestRefused:
    params = {"missing": ", ".join(missing), "required": ", ".join(layout.required)}
    if not meant:
        text = gettext_noop(
            "The header lacks: %(missing)s. The first line must name the columns, at least %(required)s."
        )
    else:
        text = gettext_noop(
            "The header lacks: %(missing)s. Probably meant: %(meant)s. "
            "Rename these columns in the first line."
        )
        params["meant"] = ", ".join(f"{notes.shortened(key)} → {name}" for key, name in meant.items())
    return ManifestRefused("wrong_header", text, params, fields=meant)


def _csv_row(line: int, cells: list[str], names: list[str]) -> RawRow | None:
    if not any(cell.strip() for cell in cells):
        return None
    row = RawRow(line, {name: cell.strip() for name, cell in zip(names, cells, strict=False) if name})
    if any(cell.strip() for cell in cells[len(names) :]):
        row.notes.append(
            notes.refused(
                "too_many_cells",
                gettext_noop(
                    "This row has %(cells)s cells, the header %(columns)s: a cell that holds the separator "
                    "needs quotation marks."
                ),
                cells=len(cells),
                columns=len(names),
            )
        )
    return row


# JSONL


class _Twice(ValueError):
    """The same key twice in one object; Python would keep the last one silently."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _Twice
    return dict(pairs)


def _no_constants(name: str) -> None:
    raise ValueError(name)


def _jsonl(text: str, said: list[Note], layout: Layout) -> Iterator[RawRow]:
    unknown: set[str] = set()
    for line, content in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if not content.strip():
            continue
        try:
            item = json.loads(content, object_pairs_hook=_object, parse_constant=_no_constants)
        except json.JSONDecodeError as error:
            message = gettext_noop("Line %(line)s is not valid JSON (near character %(column)s).")
            yield RawRow(line, {}, [notes.refused("broken_line", message, line=line, column=error.colno)])
            continue
        except (ValueError, RecursionError) as error:
            code = "key_twice" if isinstance(error, _Twice) else "broken_line"
            message = (
                gettext_noop("Line %(line)s has the same key twice.")
                if isinstance(error, _Twice)
                else gettext_noop("Line %(line)s is not valid JSON.")
            )
            yield RawRow(line, {}, [notes.refused(code, message, line=line)])
            continue
        if not isinstance(item, dict):
            message = gettext_noop("Line %(line)s is not an object: write %(example)s.")
            said_of_it = notes.refused("not_an_object", message, line=line, example=layout.example)
            yield RawRow(line, {}, [said_of_it])
            continue
        if len(item) > MOST_COLUMNS:
            message = gettext_noop("Line %(line)s has more than %(most)s keys.")
            yield RawRow(line, {}, [notes.refused("many_keys", message, line=line, most=MOST_COLUMNS)])
            continue
        yield _json_row(line, item, unknown, said, layout)


def _json_row(line: int, item: dict[str, Any], unknown: set[str], said: list[Note], layout: Layout) -> RawRow:
    row = RawRow(line, {})
    strange, known = [], layout.by_name
    for key, value in item.items():
        name = layout.named(key)
        if name not in known:
            strange.append(name)
        elif name in row.data:
            row.notes.append(
                notes.refused("key_twice", gettext_noop("Line %(line)s has the same key twice."), line=line)
            )
        else:
            row.data[name] = _json_cell(name, value)
    missing = [name for name in layout.missing(row.data) if not (name == "audio" and row.data.get("turns"))]
    meant = {key: name for key in strange if (name := layout.probably_meant(key, missing) or "")}
    if missing:
        error = _wrong_header(missing, meant, layout)
        text = (
            gettext_noop("This line lacks: %(missing)s. Probably meant: %(meant)s.")
            if meant
            else gettext_noop("This line lacks: %(missing)s.")
        )
        row.notes.append(notes.refused("missing_keys", text, **error.params))
    for key in strange:
        if key not in unknown and key not in meant and len(unknown) < 50:
            unknown.add(key)
            text = gettext_noop("The column “%(column)s” is not known and is left out.")
            said.append(notes.warning("unknown_column", text, column=notes.shortened(key)))
    return row


def _json_cell(name: str, value: Any) -> Any:
    """A value as a cell: text, except turns and lists of files, which may stay structured."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and name in ("audio", "turns", "turns_a", "turns_b", "speaker_consent"):
        return value
    return str(value) if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False)

"""What an export says of itself: data dictionary, data package, manifest, read-me."""

from __future__ import annotations

import csv
import io
import platform
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import django
from django.conf import settings
from django.db import connection

from studies import looks, plans
from studies.cells import guarded
from studies.markdown import as_markdown_text
from studies.models import AuditLine, Participant, Study
from studies.outcomes import counted_in
from studies.registry import Column, Dataset

#: Rises when the layout of the zip changes in a way that readers notice.
FORMAT = 1


@dataclass
class Written:
    """One file of the zip: what the manifest says of it."""

    path: str
    size: int = 0
    sha256: str = ""
    rows: int | None = None

    def entry(self) -> dict[str, Any]:
        rows = {} if self.rows is None else {"rows": self.rows}
        return {"path": self.path, "bytes": self.size, "sha256": self.sha256, **rows}


class Table(NamedTuple):
    """A dataset as it went into the zip, a file per format; ``excluded`` counts its rows by reason."""

    dataset: Dataset
    columns: tuple[Column, ...]
    files: tuple[Written, ...]
    excluded: dict[str, int]

    @property
    def rows(self) -> int:
        return self.files[0].rows or 0


class Contents(NamedTuple):
    """All that went into the zip before its manifest."""

    tables: Sequence[Table]
    files: Sequence[Written]
    tier: str
    formats: tuple[str, ...]
    bom: bool


#: Format → media type of its files.
MEDIA = {
    "csv": "text/csv",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}


def dictionary(tables: Sequence[Table], *, bom: bool) -> str:
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow(["table", "column", "type", "meaning", "unit", "levels"])
    for dataset, columns, *_rest in tables:
        for one in columns:
            cells = (one.name, one.type, str(one.meaning), one.unit, " | ".join(one.levels))
            sheet.writerow([dataset.key, *(guarded(cell) for cell in cells)])
    return ("\ufeff" if bom else "") + text.getvalue()


def data_package(study: Study, tables: Sequence[Table], made_at: datetime) -> dict[str, Any]:
    """Descriptor of the tables by the Frictionless Data Package specification, version 1."""
    return {
        "profile": "tabular-data-package",
        "name": study.slug,
        "title": study.title_en,
        "created": _moment(made_at),
        "resources": [_resource(table, file) for table in tables for file in table.files],
    }


def _resource(table: Table, file: Written) -> dict[str, Any]:
    kind = file.path.rpartition(".")[2]
    name = table.dataset.key.replace("_", "-")
    described: dict[str, Any] = {
        "profile": "tabular-data-resource" if kind == "csv" else "data-resource",
        "name": name if kind == "csv" else f"{name}-{kind}",
        "title": str(table.dataset.title),
        "path": file.path,
        "format": kind,
        "mediatype": MEDIA[kind],
        "bytes": file.size,
        "hash": f"sha256:{file.sha256}",
        "schema": {
            "fields": [_field(one) for one in table.columns],
            "primaryKey": list(table.dataset.primary_key),
            "missingValues": [""],
        },
    }
    return described if kind == "parquet" else {**described, "encoding": "utf-8"}


def _field(column: Column) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "description": str(column.meaning),
    }
    if column.type == "datetime":
        described["format"] = "any"
    if column.unit:
        described["unit"] = column.unit
    if column.levels:
        described["constraints"] = {"enum": list(column.levels)}
    return described


def manifest(study: Study, contents: Contents, made_at: datetime) -> dict[str, Any]:
    people, plan = Participant.objects.filter(study=study), plans.note_of(study)
    return {
        "format": FORMAT,
        "study": study.slug,
        "title": study.title_en,
        "status": study.status,
        "made_at": _moment(made_at),
        "tier": contents.tier,
        "formats": list(contents.formats),
        "bom": contents.bom,
        "versions": {
            "turingsite": product_version(),
            "python": platform.python_version(),
            "django": django.get_version(),
            "database": connection.vendor,
        },
        "seeds": {"study": study.seed},
        "consent_texts": [
            {"activity": activity, "version": version, "sha256": digest}
            for activity, version, digest in study.consent_texts.order_by("activity", "version").values_list(
                "activity", "version", "sha256"
            )
        ],
        "plan": plan.as_data() if plan is not None else None,
        "looks": [
            {"at": _moment(line.at), "how": line.action, "what": line.target, **_seen(line)}
            for line in reversed(looks.looks_of(study))
        ],
        "reopened": [one.as_data() for one in looks.reopenings_of(study)],
        "left_out": {"participants": {"erased": people.filter(erased_at__isnull=False).count()}},
        "excluded": {one.dataset.key: one.excluded for one in contents.tables if one.dataset.counted},
        "files": [file.entry() for file in contents.files],
    }


def _seen(line: AuditLine) -> dict[str, Any]:
    """How far the study was when outcomes were seen. Who looked stays on the desk."""
    return {
        **{key: line.detail.get(key) for key in ("status", "n")},
        "counts": counted_in(line),
        "early": looks.is_early(line),
    }


@cache
def product_version() -> str:
    """The version in pyproject.toml: the product runs from its checkout."""
    described = tomllib.loads((Path(settings.BASE_DIR) / "pyproject.toml").read_text(encoding="utf-8"))
    return str(described["project"]["version"])


def readme(study: Study, tables: Sequence[Table], tier: str, language: str = "") -> str:
    files = ", ".join(f"`{file.path}`" for file in tables[0].files) if tables else ""
    lines = [
        f"# {as_markdown_text(study.title_en)} ({study.slug})",
        "",
        "One row per observation, one table per sort of thing; codes join them. `dictionary.csv` explains",
        "every column, `datapackage.json` says the same to programs, `manifest.json` has row counts,",
        "SHA-256, seeds and versions; it was written last, so a copy without it was cut off. `study.yaml`",
        "is the study's settings and texts. `python reproduce.py` makes every figure in `headlines.json`",
        "anew from the tables.",
        "",
        f"Tier: {tier}. " + _TIERS[tier],
        *((f"Limited to dialogues in “{language}” and what was said of them.",) if language else ()),
        "",
        "CSV: UTF-8, comma, empty = no value, times in ISO 8601 with offset, lists and objects in JSON. Text",
        "that a spreadsheet could run as a formula has an apostrophe in front; take one off when reading by",
        f"program. Other formats hold text as it is. A table in this file: {files}.",
        "People who asked for erasure are in no table.",
        "",
        "| table | rows | what |",
        "|---|---|---|",
        *(f"| `{one.dataset.key}` | {one.rows} | {as_markdown_text(one.dataset.title)} |" for one in tables),
        "",
    ]
    return "\n".join(lines)


_TIERS = {
    "public": "Days stand in the place of times; rare profiles are coarsened: `coarsened` in the manifest.",
    "controlled": "No nicknames, no recruiter's ids. For people who signed for it.",
    "internal": "With nicknames and recruiter's ids. Not to leave the team.",
}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")

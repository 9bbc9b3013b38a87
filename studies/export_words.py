"""What an export says of itself: data dictionary, data package, manifest, read-me."""

from __future__ import annotations

import csv
import io
import platform
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import django
from django.conf import settings
from django.db import connection

from studies.cells import guarded
from studies.models import Participant, Study
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
    excluded: dict[str, int] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        rows = {} if self.rows is None else {"rows": self.rows}
        return {"path": self.path, "bytes": self.size, "sha256": self.sha256, **rows}


class Table(NamedTuple):
    """A dataset as it went into the zip."""

    dataset: Dataset
    columns: tuple[Column, ...]
    file: Written


def dictionary(tables: Sequence[Table], *, bom: bool) -> str:
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow(["table", "column", "type", "meaning", "unit", "levels"])
    for dataset, columns, _file in tables:
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
        "resources": [
            {
                "profile": "tabular-data-resource",
                "name": dataset.key.replace("_", "-"),
                "title": str(dataset.title),
                "path": file.path,
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "bytes": file.size,
                "hash": f"sha256:{file.sha256}",
                "schema": {
                    "fields": [_field(one) for one in columns],
                    "primaryKey": list(dataset.primary_key),
                    "missingValues": [""],
                },
            }
            for dataset, columns, file in tables
        ],
    }


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


def manifest(
    study: Study,
    files: Sequence[Written],
    tables: Sequence[Table],
    *,
    tier: str,
    bom: bool,
    made_at: datetime,
) -> dict[str, Any]:
    people = Participant.objects.filter(study=study)
    excluded = {dataset.key: file.excluded for dataset, _columns, file in tables if dataset.counted}
    return {
        "format": FORMAT,
        "study": study.slug,
        "title": study.title_en,
        "status": study.status,
        "made_at": _moment(made_at),
        "tier": tier,
        "bom": bom,
        "versions": {
            "turingsite": product_version(),
            "python": platform.python_version(),
            "django": django.get_version(),
            "database": connection.vendor,
        },
        "seeds": {"study": study.seed},
        "consent_texts": [
            {"version": version, "sha256": digest}
            for version, digest in study.consent_texts.order_by("version").values_list("version", "sha256")
        ],
        "left_out": {"participants": {"erased": people.filter(erased_at__isnull=False).count()}},
        "excluded": excluded,
        "files": [file.entry() for file in files],
    }


def product_version() -> str:
    """The version in pyproject.toml: the product runs from its checkout."""
    described = tomllib.loads((Path(settings.BASE_DIR) / "pyproject.toml").read_text(encoding="utf-8"))
    return str(described["project"]["version"])


def readme(study: Study, tables: Sequence[Table]) -> str:
    lines = [
        f"# {study.title_en} ({study.slug})",
        "",
        "One row per observation, one file per table; codes join them. `dictionary.csv` explains every",
        "column, `datapackage.json` says the same to programs, `manifest.json` has row counts, SHA-256,",
        "seeds and versions.",
        "",
        "Reading the cells: UTF-8, comma, empty = no value, times in ISO 8601 with offset, lists and objects",
        "in JSON. Text that a spreadsheet could run as a formula has an apostrophe in front; take one off",
        "when reading by program. People who asked for erasure are in no table.",
        "",
        "| table | rows | what |",
        "|---|---|---|",
        *(f"| `{file.path}` | {file.rows} | {dataset.title} |" for dataset, _columns, file in tables),
        "",
    ]
    return "\n".join(lines)


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")

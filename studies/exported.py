"""Reading an export back: the tables as they were written, checked against the manifest."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _

from studies.cells import read, unguarded
from studies.export_words import FORMAT
from studies.registry import Dataset, datasets
from turingsite.errors import Invalid

# A draw can hold every candidate of a large study; the default limit is 128 kB.
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


class Exported:
    """An export on disk. Use as a context manager; Invalid where the file is not one, or was changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._archive = zipfile.ZipFile(path)
            self.manifest: dict[str, Any] = json.loads(self._archive.read("manifest.json"))
            self._files = {str(one["path"]): one for one in self.manifest["files"]}
        except FileNotFoundError as problem:
            raise Invalid("no_export", _("There is no file %(path)s."), {"path": path}) from problem
        except (zipfile.BadZipFile, KeyError, TypeError, ValueError, OSError) as problem:
            raise Invalid(
                "not_an_export", _("%(path)s is not an export of a study."), {"path": path}
            ) from problem
        if self.manifest.get("format") != FORMAT:
            raise Invalid(
                "other_format",
                _("%(path)s was written by another version of this program."),
                {"path": path},
            )

    def __enter__(self) -> Exported:
        return self

    def __exit__(self, *problem: object) -> None:
        self._archive.close()

    @property
    def study(self) -> str:
        return str(self.manifest["study"])

    def table(self, key: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Rows of a table, values as the database gives them. Invalid where the bytes were changed."""
        dataset = datasets.get(key)
        path = f"tables/{key}.csv"
        if path not in self._files:
            raise Invalid(
                "table_missing", _("%(path)s has no table “%(table)s”."), {"path": self.path, "table": key}
            )
        self._check(path)
        return self._rows(dataset, path, None if columns is None else set(columns))

    def _rows(self, dataset: Dataset, path: str, wanted: set[str] | None) -> Iterator[dict[str, Any]]:
        types = {one.name: one.type for one in dataset.columns}
        with self._archive.open(path) as below:
            sheet = csv.reader(io.TextIOWrapper(below, encoding="utf-8-sig", newline=""))
            header = [unguarded(name) for name in next(sheet)]
            if not set(header) <= set(types):
                raise Invalid(
                    "other_columns",
                    _("The table “%(table)s” has columns that this version does not know."),
                    {"table": dataset.key},
                )
            kept = [
                (at, name, types[name]) for at, name in enumerate(header) if wanted is None or name in wanted
            ]
            for cells in sheet:
                yield {name: read(cells[at], kind) for at, name, kind in kept}

    def _check(self, path: str) -> None:
        digest = hashlib.sha256()
        try:
            with self._archive.open(path) as below:
                while block := below.read(1 << 20):
                    digest.update(block)
        except (KeyError, zipfile.BadZipFile) as problem:
            raise self._damaged(path) from problem
        if digest.hexdigest() != self._files[path]["sha256"]:
            raise self._damaged(path)

    def _damaged(self, path: str) -> Invalid:
        return Invalid(
            "damaged_export",
            _("%(file)s in %(path)s is not as it was written: its SHA-256 differs."),
            {"file": path, "path": self.path},
        )

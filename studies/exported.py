"""Reading an export back: the tables as they were written, checked against the manifest."""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _

from studies import sheets
from studies.export_words import FORMAT
from studies.exports import TIERS, shown_columns
from studies.registry import Dataset, datasets
from turingsite.errors import Invalid

MANIFEST = "manifest.json"
#: A manifest of every table takes some kilobytes; more than this is no manifest.
LARGEST_MANIFEST = 16 << 20
#: What reading a damaged, encrypted or oddly packed file of a zip may raise.
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
)


class Exported:
    """An export on disk. Use as a context manager; Invalid where the file is none, was cut off or changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except FileNotFoundError as problem:
            raise Invalid("no_export", _("There is no file %(path)s."), {"path": path}) from problem
        except (zipfile.BadZipFile, OSError) as problem:
            raise _cut_off(path) or self._no_export() from problem
        try:
            self._read_manifest()
        except BaseException:
            self._archive.close()
            raise

    def _read_manifest(self) -> None:
        try:
            if self._archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
                raise self._no_export()
            self.manifest: dict[str, Any] = json.loads(self._archive.read(MANIFEST))
            self._files = {
                str(one["path"]): (int(one["bytes"]), str(one["sha256"])) for one in self.manifest["files"]
            }
            known = self.manifest.get("format") != FORMAT or self.manifest.get("tier") in TIERS
            if not known or "study" not in self.manifest:
                raise self._no_export()
        except KeyError as problem:
            if self._looks_like_one():
                raise Invalid(
                    "no_manifest",
                    _(
                        "%(path)s has no manifest.json. It is written last, so this export was never "
                        "finished, or the file was taken out. Make the export again."
                    ),
                    {"path": self.path},
                ) from problem
            raise self._no_export() from problem
        except (*UNREADABLE, TypeError, ValueError, AttributeError) as problem:
            raise self._no_export() from problem
        if self.manifest.get("format") != FORMAT:
            raise Invalid(
                "other_format",
                _("%(path)s was written by another version of this program."),
                {"path": self.path},
            )
        missing = sorted(set(self._files) - set(self._archive.namelist()))
        if missing:
            raise Invalid(
                "files_missing",
                _("%(path)s lacks files that its manifest lists: %(files)s."),
                {"path": self.path, "files": ", ".join(missing)},
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
        for kind in sheets.FORMATS:
            path = f"tables/{key}.{kind}"
            if path in self._files:
                self._check(path)
                return self._rows(dataset, path, kind, None if columns is None else set(columns))
        raise Invalid(
            "table_missing", _("%(path)s has no table “%(table)s”."), {"path": self.path, "table": key}
        )

    def _rows(
        self, dataset: Dataset, path: str, kind: str, wanted: set[str] | None
    ) -> Iterator[dict[str, Any]]:
        columns = shown_columns(dataset, str(self.manifest["tier"]))
        with self._archive.open(path) as below:
            try:
                yield from sheets.rows(kind, below, columns, wanted)
            except sheets.OtherColumns as problem:
                raise Invalid(
                    "other_columns",
                    _("The table “%(table)s” has columns that this version does not know."),
                    {"table": dataset.key},
                ) from problem

    def _check(self, path: str) -> None:
        digest = hashlib.sha256()
        left, sha256 = self._files[path]
        try:
            with self._archive.open(path) as below:
                # Not a byte more than declared: what a small file unfolds into could fill the disk.
                while left >= 0 and (block := below.read(1 << 20)):
                    left -= len(block)
                    digest.update(block)
        except (KeyError, *UNREADABLE) as problem:
            raise self._damaged(path) from problem
        if left != 0 or digest.hexdigest() != sha256:
            raise self._damaged(path)

    def _looks_like_one(self) -> bool:
        return any(name.startswith("tables/") for name in self._archive.namelist())

    def _no_export(self) -> Invalid:
        return Invalid("not_an_export", _("%(path)s is not an export of a study."), {"path": self.path})

    def _damaged(self, path: str) -> Invalid:
        return Invalid(
            "damaged_export",
            _("%(file)s in %(path)s is not as it was written: its SHA-256 differs."),
            {"file": path, "path": self.path},
        )


class _Part(NamedTuple):
    name: str
    whole: bool


def _cut_off(path: Path) -> Invalid | None:
    """What to say of a zip without its end: which files are whole, where it stops, what is missing."""
    parts = _parts(path)
    if not any(part.name.startswith("tables/") for part in parts):
        return None
    whole = [part.name for part in parts if part.whole]
    kinds = {name.rpartition(".")[2] for name in whole if name.startswith("tables/")} or {"csv"}
    expected = [f"tables/{dataset.key}.{kind}" for dataset in datasets for kind in sorted(kinds)]
    missing = [name for name in expected if name not in whole]
    return Invalid(
        "cut_off",
        _(
            "%(path)s was cut off in %(last)s: the copy or the download stopped early. Whole are %(whole)s "
            "of its files; missing are %(missing)s. Copy it again or make it again."
        ),
        {
            "path": path,
            "last": parts[-1].name,
            "whole": len(whole),
            "missing": ", ".join([*missing, *(() if MANIFEST in whole else (MANIFEST,))]) or "its directory",
        },
    )


def _parts(path: Path) -> list[_Part]:
    """The files of a zip as its local headers name them, up to where it stops."""
    parts: list[_Part] = []
    try:
        end = path.stat().st_size
        with path.open("rb") as file:
            while len(header := file.read(30)) == 30 and header[:4] == b"PK\x03\x04":
                size, name_length, extra_length = (
                    struct.unpack("<I", header[18:22])[0],
                    *struct.unpack("<HH", header[26:30]),
                )
                name = file.read(name_length).decode("utf-8", "replace")
                extra = file.read(extra_length)
                if size == 0xFFFFFFFF and len(extra) >= 20 and extra[:2] == b"\x01\x00":
                    size = struct.unpack("<Q", extra[12:20])[0]
                start = file.tell()
                # Zero until the file is finished: its sizes are put into the header afterwards.
                whole = 0 < size <= end - start
                parts.append(_Part(name, whole))
                if not whole:
                    break
                file.seek(start + size)
    except OSError:
        return []
    return parts


def withheld_in(path: Path) -> dict[str, Any] | None:
    """What the public tier kept back of people's profiles, as the manifest of the export says it.

    ``None`` where the file is no longer there, cannot be read, or is of another tier.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
                return None
            found = json.loads(archive.read(MANIFEST))["coarsened"]["profile"]
    except (*UNREADABLE, KeyError, ValueError, TypeError):
        return None
    return dict(found)

"""Writing a study's export: tidy tables, data dictionary, data package, manifest, in one zip, read in chunks.

The tables come from the registry. ``export_study`` is the one entry; ``studies.exported`` reads a zip back.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies import audit, export_words
from studies.cells import guarded, written
from studies.export_words import Table, Written
from studies.models import ExportFile, Study
from studies.registry import Column, Dataset, datasets
from turingsite.errors import NotFound

#: From what anybody may have to what never leaves the team. A column is in its tier and every later one.
TIERS = ("public", "controlled", "internal")
#: What the export is made for unless said otherwise: no nicknames, no recruiter ids.
DEFAULT_TIER = "controlled"
#: What is made so far. The public tier also coarsens profiles and times: columns alone would not do.
EXPORT_TIERS = ("controlled", "internal")
# A zip cannot hold earlier times.
_FIRST_MOMENT = (1980, 1, 1, 0, 0, 0)


def study_named(slug: str) -> Study:
    """The study at that address, for commands: whoever runs them sees every study. NotFound without one."""
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)[:20])
        raise NotFound(
            "no_study",
            _("There is no study “%(name)s”. There are: %(known)s.")
            if known
            else _("There is no study yet."),
            {"name": slug, "known": known},
        )
    return study


def export_study(
    *,
    study: Study,
    path: Path,
    tier: str = DEFAULT_TIER,
    bom: bool = False,
    user: Any = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Write the zip to ``path`` and return its manifest. The file appears whole or not at all.

    Erased people are in no table. All tables show the same moment. OSError where the place cannot be written.
    """
    if tier not in EXPORT_TIERS:
        raise ValueError("tier is controlled or internal")
    made_at = now or timezone.now()
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    # The row comes first: whoever is erased while the tables are read marks this file as stale.
    row = ExportFile.objects.create(study=study, path=str(path.resolve()), sha256="", created_at=made_at)
    done = False
    try:
        with partial.open("wb") as target, snapshot():
            manifest = _write(target, study, tier=tier, bom=bom, made_at=made_at)
            target.flush()
            os.fsync(target.fileno())
        digest = _sha256(partial)
        partial.replace(path)
        done = True
    finally:
        partial.unlink(missing_ok=True)
        if not done:
            row.delete()
    with transaction.atomic():
        ExportFile.objects.filter(path=row.path).exclude(pk=row.pk).delete()  # overwritten just now
        ExportFile.objects.filter(pk=row.pk).update(sha256=digest)
        audit.record(
            "study.exported",
            study=study,
            user=user,
            target=digest[:16],
            now=made_at,
            tier=tier,
            files=len(manifest["files"]),
        )
    return manifest


def shown_columns(dataset: Dataset, tier: str) -> tuple[Column, ...]:
    """The columns of a dataset that a tier has."""
    return tuple(one for one in dataset.columns if TIERS.index(one.tier) <= TIERS.index(tier))


@contextmanager
def snapshot() -> Iterator[None]:
    """One moment of the database for everything read inside, without holding up those who write.

    Inside a transaction already: nothing to do. SQLite gets a plain BEGIN by hand, since Django's atomic() is
    set to IMMEDIATE here and would keep every verdict waiting until the export is done.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")


def _write(target: IO[bytes], study: Study, *, tier: str, bom: bool, made_at: datetime) -> dict[str, Any]:
    files: list[Written] = []
    tables: list[Table] = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for dataset in datasets:
            columns = shown_columns(dataset, tier)
            written_file = _write_table(archive, study, dataset, columns, bom=bom)
            tables.append(Table(dataset, columns, written_file))
            files.append(written_file)
        files.append(_write_text(archive, "dictionary.csv", export_words.dictionary(tables, bom=bom)))
        package = export_words.data_package(study, tables, made_at)
        files.append(_write_text(archive, "datapackage.json", _as_json(package)))
        files.append(_write_text(archive, "README.md", export_words.readme(study, tables)))
        manifest = export_words.manifest(study, files, tables, tier=tier, bom=bom, made_at=made_at)
        _write_text(archive, "manifest.json", _as_json(manifest))
    return manifest


class _Hashing(io.RawIOBase):
    """Passes bytes on and keeps their number and SHA-256."""

    def __init__(self, below: IO[bytes]) -> None:
        self.below, self.size, self.digest = below, 0, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.size += len(data)
        self.digest.update(data)
        self.below.write(data)
        return len(data)


def _entry(name: str) -> zipfile.ZipInfo:
    # A fixed time: the same data give the same bytes.
    entry = zipfile.ZipInfo(name, _FIRST_MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _write_table(
    archive: zipfile.ZipFile, study: Study, dataset: Dataset, columns: Sequence[Column], *, bom: bool
) -> Written:
    result = Written(f"tables/{dataset.key}.csv", rows=0)
    reasons: Counter[str] = Counter()
    count = 0
    with archive.open(_entry(result.path), "w", force_zip64=True) as below:
        hashing = _Hashing(below)
        encoding = "utf-8-sig" if bom else "utf-8"
        text = io.TextIOWrapper(
            io.BufferedWriter(hashing, 1 << 16), encoding=encoding, newline="", write_through=False
        )
        sheet = csv.writer(text, lineterminator="\n")
        sheet.writerow([guarded(one.name) for one in columns])
        for row in dataset.rows(study):
            sheet.writerow([written(row[one.name], one.type) for one in columns])
            count += 1
            if dataset.counted and row[dataset.counted]:
                reasons[str(row[dataset.counted])] += 1
        text.flush()
        text.detach()
    result.rows, result.size, result.sha256 = count, hashing.size, hashing.digest.hexdigest()
    result.excluded = dict(sorted(reasons.items()))
    return result


def _write_text(archive: zipfile.ZipFile, path: str, text: str) -> Written:
    data = text.encode("utf-8")
    archive.writestr(_entry(path), data)
    return Written(path, len(data), hashlib.sha256(data).hexdigest())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"

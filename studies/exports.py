"""Writing a study's export: tidy tables, what explains them, companions, manifest, in one zip, in chunks.

The tables come from the registry. ``export_study`` is the one entry; ``studies.exported`` reads a zip back.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies import audit, export_words, files, sheets
from studies.export_words import Contents, Table, Written
from studies.models import ExportFile, Study
from studies.public import PublicTier, public_column
from studies.registry import Column, Dataset, Gatherer, companions, datasets
from turingsite.errors import NotFound

#: From what anybody may have to what never leaves the team. A column is in its tier and every later one.
TIERS = ("public", "controlled", "internal")
#: What the export is made for unless said otherwise: no nicknames, no recruiter ids.
DEFAULT_TIER = "controlled"
#: The tiers that can be made. The public one also changes values: see ``studies.public``.
EXPORT_TIERS = TIERS
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
    formats: Sequence[str] = ("csv",),
    bom: bool = False,
    user: Any = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Write the zip to ``path`` and return its manifest. The file appears whole or not at all.

    ``formats``: of ``sheets.FORMATS``; ``bom`` puts a byte-order mark before CSV. Erased people are in no
    table. All tables show the same moment. OSError where the place cannot be written.
    """
    if tier not in EXPORT_TIERS:
        raise ValueError("tier is public, controlled or internal")
    if not formats or not set(formats) <= set(sheets.FORMATS):
        raise ValueError("formats are some of csv, jsonl, parquet")
    # In one order, so that the same data give the same bytes whatever the order in which they were named.
    wanted = _Wanted(tier, tuple(one for one in sheets.FORMATS if one in formats), bom)
    made_at = now or timezone.now()
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    # The row comes first: whoever is erased while the tables are read marks this file as stale.
    row = ExportFile.objects.create(study=study, path=str(path.resolve()), sha256="", created_at=made_at)
    done = False
    try:
        with partial.open("wb") as target, snapshot():
            manifest = _write(target, study, wanted, made_at)
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
            formats=list(wanted.formats),
            files=len(manifest["files"]),
            status=manifest["status"],
            n=analysed(manifest),
        )
    return manifest


def analysed(manifest: Mapping[str, Any]) -> int:
    """Verdicts in an export that no reason excludes: what somebody who opens it early has seen."""
    rows = {
        str(one["path"]).rpartition(".")[0]: int(one["rows"]) for one in manifest["files"] if "rows" in one
    }
    left_out = manifest["excluded"].get("verdicts", {})
    return rows.get("tables/verdicts", 0) - int(sum(left_out.values()))


def shown_columns(dataset: Dataset, tier: str) -> tuple[Column, ...]:
    """The columns of a dataset that a tier has, as that tier has them."""
    shown = tuple(one for one in dataset.columns if TIERS.index(one.tier) <= TIERS.index(tier))
    return tuple(public_column(one) for one in shown) if tier == "public" else shown


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


class _Wanted(NamedTuple):
    tier: str
    formats: tuple[str, ...]
    bom: bool


def _write(target: IO[bytes], study: Study, wanted: _Wanted, made_at: datetime) -> dict[str, Any]:
    tables: list[Table] = []
    public = PublicTier(study) if wanted.tier == "public" else None
    gathering = [(one, one.begin(study)) for one in companions]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for dataset in datasets:
            listeners = [gatherer for one, gatherer in gathering if dataset.key in one.tables]
            rows = dataset.rows(study)
            tables.append(
                _write_table(
                    archive,
                    dataset,
                    rows if public is None else public.rows(dataset, rows),
                    wanted,
                    listeners,
                )
            )
        texts = {
            "dictionary.csv": export_words.dictionary(tables, bom=wanted.bom),
            "datapackage.json": _as_json(export_words.data_package(study, tables, made_at)),
            "study.yaml": files.as_yaml(
                files.describe(study, with_codes=wanted.tier == "internal", with_draft=False)
            ),
            "README.md": export_words.readme(study, tables, wanted.tier),
            **{one.key: gatherer.text() for one, gatherer in gathering},
        }
        written = [file for table in tables for file in table.files]
        written += [_write_text(archive, path, text) for path, text in texts.items()]
        contents = Contents(tables, written, wanted.tier, wanted.formats, wanted.bom)
        manifest = export_words.manifest(study, contents, made_at)
        if public is not None:
            manifest["coarsened"] = public.summary()
        # Last: where the manifest is, everything before it is.
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
    # Parquet is compressed already.
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _write_table(
    archive: zipfile.ZipFile,
    dataset: Dataset,
    rows: Iterable[Mapping[str, Any]],
    wanted: _Wanted,
    listeners: Sequence[Gatherer],
) -> Table:
    """One table in every format, its rows read once. A zip takes one file at a time: others wait on disk."""
    columns = shown_columns(dataset, wanted.tier)
    first, *others = (Written(f"tables/{dataset.key}.{one}", rows=0) for one in wanted.formats)
    reasons: Counter[str] = Counter()
    count = 0
    with ExitStack() as held:
        waiting = [(file, held.enter_context(tempfile.TemporaryFile())) for file in others]
        with archive.open(_entry(first.path), "w", force_zip64=True) as below:
            hashed = [_Hashing(below), *(_Hashing(place) for _file, place in waiting)]
            written_sheets = [
                sheets.sheet(one, hashing, columns, bom=wanted.bom)  # type: ignore[arg-type]
                for one, hashing in zip(wanted.formats, hashed, strict=True)
            ]
            for row in rows:
                for sheet in written_sheets:
                    sheet.write(row)
                for listener in listeners:
                    listener.take(dataset.key, row)
                count += 1
                if dataset.counted and row[dataset.counted]:
                    reasons[str(row[dataset.counted])] += 1
            for sheet in written_sheets:
                sheet.close()
        for file, place in waiting:
            place.seek(0)
            with archive.open(_entry(file.path), "w", force_zip64=True) as below:
                shutil.copyfileobj(place, below, 1 << 20)
    for file, hashing in zip((first, *others), hashed, strict=True):
        file.rows, file.size, file.sha256 = count, hashing.size, hashing.digest.hexdigest()
    return Table(dataset, columns, (first, *others), dict(sorted(reasons.items())))


def _write_text(archive: zipfile.ZipFile, path: str, text: str) -> Written:
    data = text.encode("utf-8")
    archive.writestr(_entry(path), data)
    return Written(path, len(data), hashlib.sha256(data).hexdigest())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"

"""Writing a study's export: tidy tables, what explains them, companions, manifest, in one zip, in chunks.

The tables come from the registry. ``export_study`` is the one entry; ``studies.exported`` reads a zip back.
CSV is written by the database where it can say every cell (``studies.copying``), all else row by row.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies import audit, copying, export_words, files, sheets
from studies.export_files import whole_file
from studies.export_words import Contents, Table, Written
from studies.looks import state_of
from studies.models import Study
from studies.outcomes import noted
from studies.public import CHANGED, PublicTier, public_column
from studies.registry import Column, Dataset, companions, datasets, outcomes
from studies.tidy import TidyDataset
from studies.writing_ahead import WritingAhead
from turingsite.errors import NotFound

#: From what anybody may have to what never leaves the team. A column is in its tier and every later one.
TIERS = ("public", "controlled", "internal")
#: What the export is made for unless said otherwise: no nicknames, no recruiter ids.
DEFAULT_TIER = "controlled"
#: The tiers that can be made. The public one also changes values: see ``studies.public``.
EXPORT_TIERS = TIERS
#: How much the zip is pressed: 4 takes half the time of 6, and a tenth more room.
LEVEL = 4
#: Rows written row by row between two words on progress.
STEP = 500
#: Told of rows as they are written; what it raises stops the export.
Progress = Callable[[int], None]
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
    language: str = "",
    user: Any = None,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the zip to ``path`` and return its manifest. The file appears whole or not at all.

    ``formats``: of ``sheets.FORMATS``; ``bom`` puts a byte-order mark before CSV; ``language`` limits
    dialogues, and what was said of them, to one. Erased people are in no table. All tables show the same
    moment. ``progress`` is told of rows as they are written and may raise; where CSV and other formats are
    made, of each row twice. OSError where the place cannot be written.
    """
    if tier not in EXPORT_TIERS:
        raise ValueError("tier is public, controlled or internal")
    if not formats or not set(formats) <= set(sheets.FORMATS):
        raise ValueError("formats are some of csv, jsonl, parquet")
    # In one order, so that the same data give the same bytes whatever the order in which they were named.
    wanted = _Wanted(tier, tuple(one for one in sheets.FORMATS if one in formats), bom, language)
    made_at = now or timezone.now()
    with whole_file(study=study, path=path, now=made_at) as whole:
        manifest = _write(whole.target, study, wanted, made_at, progress or _told_nobody)
    with transaction.atomic():
        whole.list_it()
        audit.record(
            "study.exported",
            study=study,
            user=user,
            target=whole.sha256[:16],
            now=made_at,
            tier=tier,
            formats=list(wanted.formats),
            files=len(manifest["files"]),
            by="command",  # where nobody on the desk asked for it
            **noted(counts_in(manifest)),
            **{**state_of(study), "status": manifest["status"]},
        )
    return manifest


def counts_in(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Outcomes in an export, by sort, that no reason excludes: what somebody who opens it early has seen."""
    rows = {
        str(one["path"]).rpartition(".")[0]: int(one["rows"]) for one in manifest["files"] if "rows" in one
    }
    left_out = {key: int(sum(reasons.values())) for key, reasons in manifest["excluded"].items()}
    return {one.key: rows.get(f"tables/{one.dataset}", 0) - left_out.get(one.dataset, 0) for one in outcomes}


def shown_columns(dataset: Dataset, tier: str) -> tuple[Column, ...]:
    """The columns of a dataset that a tier has, as that tier has them."""
    shown = tuple(one for one in dataset.columns if TIERS.index(one.tier) <= TIERS.index(tier))
    return tuple(public_column(one) for one in shown) if tier == "public" else shown


def zipped(target: Path | IO[bytes]) -> zipfile.ZipFile:
    """An export's zip, to be written."""
    return zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED)


class _Wanted(NamedTuple):
    tier: str
    formats: tuple[str, ...]
    bom: bool
    language: str


def rows_to_read(study: Study, tier: str, formats: Sequence[str], language: str = "") -> int:
    """How many rows ``export_study`` would tell its ``progress`` of."""
    total = 0
    for dataset in datasets:
        source = _Source(study, dataset, shown_columns(dataset, tier), None, language, _told_nobody)
        if isinstance(dataset, TidyDataset):
            rows = dataset.found(study, language).order_by().count()
        else:
            rows = sum(1 for _row in source.rows())
        in_python = tier == "public" and dataset.key in CHANGED
        copied = "csv" in formats and not in_python and source.query() is not None
        total += rows * (1 if not copied else 1 + (len(formats) > 1))
    return total


def _told_nobody(rows: int) -> None:
    pass


def _write(
    target: IO[bytes], study: Study, wanted: _Wanted, made_at: datetime, progress: Progress
) -> dict[str, Any]:
    tables: list[Table] = []
    public = PublicTier(study) if wanted.tier == "public" else None
    with zipped(target) as archive:
        for dataset in datasets:
            columns = shown_columns(dataset, wanted.tier)
            source = _Source(study, dataset, columns, public, wanted.language, progress)
            tables.append(_write_table(archive, source, wanted))
        texts = {
            "dictionary.csv": export_words.dictionary(tables, bom=wanted.bom),
            "datapackage.json": _as_json(export_words.data_package(study, tables, made_at)),
            "study.yaml": files.as_yaml(
                files.describe(study, with_codes=wanted.tier == "internal", with_draft=False)
            ),
            "README.md": export_words.readme(study, tables, wanted.tier, wanted.language),
            **{one.key: text for one in companions if (text := one.text(study, wanted.language))},
        }
        written = [file for table in tables for file in table.files]
        written += [_write_text(archive, path, text) for path, text in texts.items()]
        contents = Contents(tables, written, wanted.tier, wanted.formats, wanted.bom)
        manifest = export_words.manifest(study, contents, made_at)
        if wanted.language:
            manifest["limited_to"] = {"language": wanted.language}
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
    entry._compresslevel = LEVEL  # type: ignore[attr-defined]  # no public name before Python 3.13
    entry.external_attr = 0o644 << 16
    return entry


class _Source(NamedTuple):
    """A table of one export: where its lines come from."""

    study: Study
    dataset: Dataset
    columns: tuple[Column, ...]
    public: PublicTier | None
    language: str
    progress: Progress

    def query(self) -> QuerySet[Any] | None:
        """The table as one query of the database, where it is nothing else."""
        changed = self.public is not None and self.public.changes(self.dataset)
        if changed or not isinstance(self.dataset, TidyDataset):
            return None
        return self.dataset.selected(self.study, self.columns, self.language)

    def rows(self) -> Iterable[Mapping[str, Any]]:
        if isinstance(self.dataset, TidyDataset):
            rows: Iterable[Mapping[str, Any]] = self.dataset.read(self.study, self.language)
        else:
            rows = self.dataset.rows(self.study)
        return rows if self.public is None else self.public.rows(self.dataset, rows)


def _write_table(archive: zipfile.ZipFile, source: _Source, wanted: _Wanted) -> Table:
    """One table in every format: CSV as the database writes it, if it can, the others from rows."""
    named = {one: Written(f"tables/{source.dataset.key}.{one}", rows=0) for one in wanted.formats}
    query = source.query() if "csv" in named else None
    by_row = {one: file for one, file in named.items() if query is None or one != "csv"}
    reasons: dict[str, int] = {}
    if query is not None:
        _copy_table(archive, source, query, named["csv"], bom=wanted.bom)
        if isinstance(source.dataset, TidyDataset):
            reasons = source.dataset.reasons(source.study, source.language)
    if by_row:
        reasons = _write_rows(archive, source, by_row, bom=wanted.bom)
    return Table(source.dataset, source.columns, tuple(named.values()), dict(sorted(reasons.items())))


def _copy_table(
    archive: zipfile.ZipFile, source: _Source, query: QuerySet[Any], file: Written, *, bom: bool
) -> None:
    count = 0
    with archive.open(_entry(file.path), "w", force_zip64=True) as below:
        hashing = _Hashing(below)
        with WritingAhead(hashing) as ahead:
            ahead.write(sheets.csv_header(source.columns, bom=bom))
            for rows, data in copying.blocks(query, source.columns):
                ahead.write(data)
                count += rows
                source.progress(rows)
    file.rows, file.size, file.sha256 = count, hashing.size, hashing.digest.hexdigest()


def _write_rows(
    archive: zipfile.ZipFile, source: _Source, files: Mapping[str, Written], *, bom: bool
) -> dict[str, int]:
    """Rows read once for all these formats. A zip takes one file at a time: others wait on disk."""
    first, *others = files.values()
    reasons: Counter[str] = Counter()
    count, counted = 0, source.dataset.counted
    with ExitStack() as held:
        waiting = [(file, held.enter_context(tempfile.TemporaryFile())) for file in others]
        with archive.open(_entry(first.path), "w", force_zip64=True) as below:
            hashed = [_Hashing(below), *(_Hashing(place) for _file, place in waiting)]
            written_sheets = [
                sheets.sheet(one, hashing, source.columns, bom=bom)  # type: ignore[arg-type]
                for one, hashing in zip(files, hashed, strict=True)
            ]
            for row in source.rows():
                for sheet in written_sheets:
                    sheet.write(row)
                count += 1
                if counted and row[counted]:
                    reasons[str(row[counted])] += 1
                if count % STEP == 0:
                    source.progress(STEP)
            for sheet in written_sheets:
                sheet.close()
        source.progress(count % STEP)
        for file, place in waiting:
            place.seek(0)
            with archive.open(_entry(file.path), "w", force_zip64=True) as below:
                shutil.copyfileobj(place, below, 1 << 20)
    for file, hashing in zip((first, *others), hashed, strict=True):
        file.rows, file.size, file.sha256 = count, hashing.size, hashing.digest.hexdigest()
    return reasons


def _write_text(archive: zipfile.ZipFile, path: str, text: str) -> Written:
    data = text.encode("utf-8")
    archive.writestr(_entry(path), data)
    return Written(path, len(data), hashlib.sha256(data).hexdigest())


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"

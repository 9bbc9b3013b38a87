"""Files that leave with a study's data: each appears whole or not at all, and erasure knows of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from django.db import connection, transaction

from studies import codes
from studies.models import ExportFile, Study


class WholeFile:
    """A file being written to ``target``; ``sha256`` once it is whole."""

    def __init__(self, row: ExportFile, target: IO[bytes]) -> None:
        self._row = row
        self.target = target
        self.sha256 = ""

    def list_it(self) -> None:
        """Keep it in the study's list of files, in place of what was overwritten just now."""
        ExportFile.objects.filter(path=self._row.path).exclude(pk=self._row.pk).delete()
        ExportFile.objects.filter(pk=self._row.pk).update(sha256=self.sha256)


@contextmanager
def whole_file(*, study: Study, path: Path, now: datetime) -> Iterator[WholeFile]:
    """Write beside ``path``, put it there at the end; what is read inside is one moment of the database.

    OSError where the place cannot be written; where anything is raised nothing remains.
    """
    partial = path.with_name(f".{path.name}.{codes.public_code()}.part")
    # The row comes first: whoever is erased while the data are read marks this file as stale.
    row = ExportFile.objects.create(study=study, path=str(path.resolve()), sha256="", created_at=now)
    done = False
    try:
        with partial.open("wb") as target, snapshot():
            whole = WholeFile(row, target)
            yield whole
            target.flush()
            os.fsync(target.fileno())
        with partial.open("rb") as file:
            whole.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        partial.replace(path)
        done = True
    finally:
        partial.unlink(missing_ok=True)
        if not done:
            row.delete()


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

"""Take verdicts in that were given elsewhere, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from dialogues.importing.manifest import read_manifest
from dialogues.importing.notes import NOTE, worded
from dialogues.importing.verdict_columns import VERDICTS
from dialogues.importing.verdict_rows import VerdictRow
from dialogues.importing.verdict_services import Imported, import_verdicts, preview_verdicts
from dialogues.models import ImportRow
from turingsite.errors import DomainError

MARKS = {"warned": "!", "refused": "x"}


class Command(BaseCommand):
    help = (
        "Import the verdicts that FILE (CSV or JSONL; dialogue, rater, choice) lists. What a row is "
        "refused or warned for is told; a refused row never stops the others. Exit status: 0 if at least one "
        "row was taken in or was there already, 1 if none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--study", required=True, help="slug of the study they belong to")
        parser.add_argument(
            "--create", action="store_true", help="make the study, and items of it, where there are none"
        )
        parser.add_argument("--dry-run", action="store_true", help="report only, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        step = preview_verdicts if options["dry_run"] else import_verdicts
        try:
            manifest = read_manifest(path.read_bytes(), path.name, VERDICTS)
            for note in manifest.notes:
                self.stdout.write(f"  {worded(note.stored())}")
            done = step(manifest=manifest, slug=options["study"], create=options["create"])
        except OSError as error:
            raise CommandError(
                _("%(file)s can't be read: %(why)s") % {"file": path, "why": error.strerror}
            ) from error
        except DomainError as error:
            raise CommandError(worded({"message": str(error.message), "params": error.params})) from error
        for row in done.rows:
            self._report(row)
        self._end(done, options["study"], dry=options["dry_run"])

    def _report(self, row: VerdictRow) -> None:
        """Rows that are taken in without a word are only counted: there may be very many."""
        told = [note for note in row.notes if note.level != NOTE]
        if not told:
            return
        if row.refused:
            told = [note for note in told if note.stops]
        style = self.style.ERROR if row.refused else self.style.WARNING
        label = ImportRow.State(row.result).label
        mark = MARKS.get(row.result, "=")
        shown = "".join(c if c.isprintable() else "·" for c in row.dialogue)[:60] or "—"
        self.stdout.write(style(f"{mark} {_('line')} {row.line:>4}  {shown}: {label}"))
        for note in told:
            self.stdout.write(f"      {worded(note.stored())}")

    def _end(self, done: Imported, slug: str, *, dry: bool) -> None:
        counts = done.counts
        line = _(
            "%(accepted)s accepted, %(warned)s accepted with a warning, %(unchanged)s unchanged, "
            "%(refused)s refused."
        ) % {state: counts[state] for state in ("accepted", "warned", "unchanged", "refused")}
        self.stdout.write(f"{_('Nothing was written.')} {line}" if dry else line)
        if done.created and not dry:
            self.stdout.write(_("The study “%(slug)s” was made, as a draft.") % {"slug": slug})
        if not any(counts[state] for state in ("accepted", "warned", "unchanged")):
            raise CommandError(_("Every row was refused."), returncode=1)

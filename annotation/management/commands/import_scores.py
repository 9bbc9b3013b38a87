"""Take scores in that were given elsewhere, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotation.importing.references import import_references, preview_references
from annotation.importing.rows import ScoreRow
from annotation.importing.scales import Scale
from annotation.importing.services import File, Imported, import_scores, preview_scores
from annotation.importing.setting import How
from annotation.models import Layer, ReferenceDialogue
from dialogues.importing.notes import Note, worded
from dialogues.importing.telling import tell_end, tell_row, told


class Command(BaseCommand):
    help = (
        "Import the scores that FILE lists: CSV, TSV or JSONL, long (dialogue, rater, dimension, score, "
        "layer) or wide (a column for each dimension), or the zip of an export. 1 to 5; 0, NA or empty is no "
        "evidence. What a row is refused or warned for is told; a refused row never stops the others. Exit "
        "status: 0 if at least one row was taken in or was there already, 1 if none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--study", required=True, help="slug of the study they belong to")
        parser.add_argument(
            "--layer", choices=Layer.values, default="", help="layer of rows that name none in a column"
        )
        parser.add_argument(
            "--taxonomy",
            default="",
            help="taxonomy of rows that name none (NAME, or “NAME v2”); else the study's",
        )
        parser.add_argument(
            "--role",
            choices=ReferenceDialogue.Role.values,
            default="",
            help="keep them as known scores, of calibration dialogues or gold items; no rater is needed",
        )
        parser.add_argument(
            "--create",
            action="store_true",
            help="make what is missing: the study, its annotation, its items",
        )
        scale = parser.add_mutually_exclusive_group()
        scale.add_argument(
            "--zero-based",
            action="store_true",
            help="scores are 0 to 4 and become 1 to 5; empty: no evidence",
        )
        scale.add_argument(
            "--zero-is-no-evidence", action="store_true", help="scores are 1 to 5, though none is 5"
        )
        parser.add_argument("--dry-run", action="store_true", help="report only, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        self.last = -1
        with told(path):
            done = self._done(File(path.read_bytes(), path.name), options)
        for note in done.notes:
            self.stdout.write(f"  {worded(note.stored())}")
        for row in done.rows:
            of, news = (row.head.dialogue, row.dimension), self._news(row)
            tell_row(self, line=row.head.line, of=of, result=row.result, notes=news)
        tell_end(self, done, options["study"], dry=options["dry_run"])

    def _done(self, file: File, options: dict[str, Any]) -> Imported:
        scale = Scale.FROM_ZERO if options["zero_based"] else Scale.UNSAID
        scale = Scale.FROM_ONE if options["zero_is_no_evidence"] else scale
        how = How(options["layer"], options["taxonomy"], options["create"], scale)
        slug, dry = options["study"], options["dry_run"]
        if options["role"]:
            references = preview_references if dry else import_references
            return references(file=file, slug=slug, how=how, role=options["role"])
        step = preview_scores if dry else import_scores
        return step(file=file, slug=slug, how=how)

    def _news(self, row: ScoreRow) -> list[Note]:
        """What was not told yet: of a wide line, the words on the whole of it come once."""
        again, self.last = row.head.line == self.last, row.head.line
        return row.own if again else row.notes

"""Take verdicts in that were given elsewhere, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from dialogues.importing.manifest import read_manifest
from dialogues.importing.notes import worded
from dialogues.importing.telling import tell_end, tell_row, told
from dialogues.importing.verdict_columns import VERDICTS
from dialogues.importing.verdict_services import import_verdicts, preview_verdicts


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
        with told(path):
            manifest = read_manifest(path.read_bytes(), path.name, VERDICTS)
            for note in manifest.notes:
                self.stdout.write(f"  {worded(note.stored())}")
            done = step(manifest=manifest, slug=options["study"], create=options["create"])
        for row in done.rows:
            tell_row(self, line=row.line, of=(row.dialogue,), result=row.result, notes=row.notes)
        tell_end(self, done, options["study"], dry=options["dry_run"])

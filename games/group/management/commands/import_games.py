"""Take group games in that were played elsewhere, game by game."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dialogues.importing.notes import NOTE, shortened, worded
from dialogues.importing.telling import MARKS, tell_end, tell_row, told
from dialogues.models import ImportRow
from games.group.importing import READERS, Row, import_games, preview_games


class Command(BaseCommand):
    help = (
        "Import finished group games: jsonl (a game in each line, as the file group/game.schema.json of an "
        "export describes) or llmafia (the folders of its open logs). What a game is refused or warned for "
        "is told; a refused game never stops the others; the same games again change nothing. Exit status: 0 "
        "if at least one game was taken in or was there already, 1 if none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--format", choices=sorted(READERS), required=True)
        parser.add_argument("--study", required=True, help="slug of the study they belong to")
        parser.add_argument("--create", action="store_true", help="make the study where there is none")
        parser.add_argument(
            "--day", default="", help="day (2025-01-31) of games whose file names none; else today"
        )
        parser.add_argument("--dry-run", action="store_true", help="report only, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        step = preview_games if options["dry_run"] else import_games
        with told(path):
            games = READERS[options["format"]](path, day=_day(options["day"]))
            done = step(games=games, slug=options["study"], create=options["create"])
        for row in done.rows:
            if options["format"] == "jsonl":
                tell_row(self, line=row.game.line, of=(row.game.id,), result=row.result, notes=row.notes)
            else:
                self._tell(row)
        tell_end(self, done, options["study"], dry=options["dry_run"])

    def _tell(self, row: Row) -> None:
        """A game that is a folder: its name in the place of a line."""
        news = [one for one in row.notes if one.level != NOTE and (one.stops or row.result != "refused")]
        if not news:
            return
        style = self.style.ERROR if row.result == "refused" else self.style.WARNING
        label = ImportRow.State(row.result).label
        self.stdout.write(style(f"{MARKS.get(row.result, '=')} {shortened(row.game.where)}: {label}"))
        for note in news:
            self.stdout.write(f"      {worded(note.stored())}")


def _day(text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise CommandError("--day is a day such as 2025-01-31.") from None

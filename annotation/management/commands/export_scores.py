"""Write a study's scores to one file, in the form that import_scores takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from annotation.services.labels import export_scores
from studies.exports import study_named
from studies.looks import warning
from turingsite.errors import DomainError


class Command(BaseCommand):
    help = (
        "Write the scores of a study, of all layers, to FILE (.csv or .jsonl), so that import_scores reads "
        "back just what was there. Raters are called as in the file they came from, else by code; dialogues "
        "by their id in the manifest. For data to publish use export."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--study", required=True, help="slug of the study")
        parser.add_argument(
            "--wide",
            action="store_true",
            help="a line for each rater and dialogue, a column for each dimension",
        )
        parser.add_argument(
            "--bom", action="store_true", help="begin CSV with a byte-order mark, as Excel wants"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if path.is_dir():
            raise CommandError(_("%(file)s is a folder. Name the file.") % {"file": path})
        try:
            study = study_named(options["study"])
            if early := warning(study):
                self.stderr.write(early, self.style.WARNING)
            done = export_scores(study=study, path=path, wide=options["wide"], bom=options["bom"])
        except DomainError as refusal:
            raise CommandError(str(refusal)) from refusal
        except OSError as problem:
            raise CommandError(
                _("%(file)s can't be written: %(why)s") % {"file": path, "why": problem.strerror}
            ) from problem
        self.stdout.write(_("%(rows)s lines in %(file)s.") % {"rows": done.rows, "file": path})
        if done.left_out:
            self.stdout.write(
                _(
                    "%(scores)s scores are not in it: of another taxonomy, or of dialogues that are scored "
                    "in part. The long form has them."
                )
                % {"scores": done.left_out}
            )

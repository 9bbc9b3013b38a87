"""``manage.py report NAME --study SLUG``: a report or one of its figures, from the database or an export."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import translation

from studies.exports import study_named
from studies.figures import PICTURES, access_figure, as_png, as_svg
from studies.looks import warning
from studies.models import Language, Study
from studies.report_formats import FORMATS
from studies.reports import ANALYSIS_SETS, Options, ReportResult, access_report, run_report, run_report_from
from studies.services.running import note_reading
from turingsite.errors import DomainError

PNG = b"\x89PNG"


class Command(BaseCommand):
    help = "Print a report of a study; an unknown name lists those there are."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="which report")
        parser.add_argument("--study", default="", help="address (slug) of the study")
        parser.add_argument(
            "--set",
            default="",
            dest="analysis_set",
            choices=ANALYSIS_SETS,
            help="the frozen plan's unless given, else all",
        )
        parser.add_argument(
            "--layer", default="", help="of labels, for reports on the annotation: raw unless given"
        )
        parser.add_argument("--language", default="", choices=["", *Language.values])
        parser.add_argument(
            "--format",
            default="md",
            choices=(*sorted(FORMATS), *PICTURES),
            help="the report as text, or a figure of it as svg or png",
        )
        parser.add_argument("--figure", default="", help="which figure; without it the first one")
        parser.add_argument(
            "--labels",
            default="",
            choices=["", *(code for code, _name in settings.LANGUAGES)],
            help="language of titles and labels; keys in csv and json stay as they are",
        )
        parser.add_argument("--out", default="", help="the file to write; one that is there is replaced")
        parser.add_argument(
            "--from", dest="source", default="", help="an export (zip) in place of the database"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["figure"] and options["format"] not in PICTURES:
            raise CommandError("A figure is saved with --format svg or --format png.")
        with translation.override(options["labels"] or translation.get_language()):
            self._write(options["out"], self._made(options))

    def _made(self, options: dict[str, Any]) -> bytes:
        chosen = Options(options["analysis_set"], options["language"], layer=options["layer"])
        try:
            report = access_report(options["name"])
            if options["source"]:
                result = run_report_from(options["name"], Path(options["source"]), chosen)
                if options["study"] and options["study"] != result.study:
                    raise CommandError(
                        f"{options['source']} is an export of the study “{result.study}”, "
                        f"not of “{options['study']}”."
                    )
            elif options["study"]:
                study = study_named(options["study"])
                if report.shows_outcomes and (early := warning(study)):
                    self.stderr.write(early, self.style.WARNING)
                result = run_report(options["name"], study, chosen)
                _record(study, result)
            else:
                raise CommandError("Say which study: --study SLUG, or --from EXPORT.zip.")
            if options["format"] in FORMATS:
                return FORMATS[options["format"]](result).encode()
            figure = access_figure(result, options["figure"])
            return as_png(figure) if options["format"] == "png" else as_svg(figure).encode()
        except DomainError as refusal:
            raise CommandError(str(refusal)) from refusal

    def _write(self, out: str, content: bytes) -> None:
        if out:
            try:
                Path(out).write_bytes(content)
            except OSError as problem:
                raise CommandError(f"{out} cannot be written: {problem.strerror}.") from problem
        elif content.startswith(PNG):
            raise CommandError("A PNG goes into a file: add --out FILE.")
        else:
            self.stdout.write(content.decode(), ending="")


def _record(study: Study, result: ReportResult) -> None:
    """Looking at outcomes early is allowed and leaves a line with the n that was seen."""
    note_reading(
        study=study,
        report=result.key,
        analysis_set=result.layer or result.analysis_set,
        n=result.basis.n,
        of=result.basis.of,
    )

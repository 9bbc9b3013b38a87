"""``manage.py report NAME --study SLUG``: a report from the database, or with ``--from`` from an export."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies import audit
from studies.exports import study_named
from studies.models import Language, Study
from studies.report_formats import FORMATS
from studies.reports import ANALYSIS_SETS, Options, ReportResult, access_report, run_report, run_report_from
from turingsite.errors import DomainError


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
        parser.add_argument("--language", default="", choices=["", *Language.values])
        parser.add_argument("--format", default="md", choices=sorted(FORMATS))
        parser.add_argument(
            "--from", dest="source", default="", help="an export (zip) in place of the database"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = Options(options["analysis_set"], options["language"])
        try:
            access_report(options["name"])
            if options["source"]:
                result = run_report_from(options["name"], Path(options["source"]), chosen)
                if options["study"] and options["study"] != result.study:
                    raise CommandError(
                        f"{options['source']} is an export of the study “{result.study}”, "
                        f"not of “{options['study']}”."
                    )
            elif options["study"]:
                study = study_named(options["study"])
                result = run_report(options["name"], study, chosen)
                _record(study, result)
            else:
                raise CommandError("Say which study: --study SLUG, or --from EXPORT.zip.")
        except DomainError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(FORMATS[options["format"]](result), ending="")


def _record(study: Study, result: ReportResult) -> None:
    """Looking at outcomes early is allowed and leaves a line with the n that was seen."""
    audit.record(
        "report.read",
        study=study,
        target=result.key,
        set=result.analysis_set,
        n=result.basis.n,
        status=study.status,
    )

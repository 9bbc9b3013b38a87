"""``manage.py audit_stimuli --study SLUG``: what but the talk could give the kind away, before opening."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from dialogues.nuisance_report import warnings
from studies.exports import study_named
from studies.models import Language
from studies.report_formats import FORMATS
from studies.reports import Options, run_report
from turingsite.errors import DomainError


class Command(BaseCommand):
    help = (
        "Print the nuisance audit of a study's dialogues, the report nuisance-audit. With --strict the exit "
        "status is 1 where a figure lies beyond .5 ± .15."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="address (slug) of the study")
        parser.add_argument("--language", default="", choices=["", *Language.values])
        parser.add_argument("--format", default="md", choices=sorted(FORMATS))
        parser.add_argument("--strict", action="store_true", help="fail where there is a warning")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = study_named(options["study"])
            result = run_report("nuisance-audit", study, Options(language=options["language"]))
        except DomainError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(FORMATS[options["format"]](result), ending="")
        beyond = warnings(result)
        if options["strict"] and beyond:
            message = _("%(count)s figures lie beyond .5 ± .15.")
            raise CommandError(message % {"count": beyond}, returncode=1)

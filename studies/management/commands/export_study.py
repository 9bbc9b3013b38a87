"""``manage.py export_study SLUG``: a study, or a built-in template, as one YAML file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies.exports import study_named
from studies.files import TEMPLATES, as_yaml, describe, template
from turingsite.errors import DomainError


class Command(BaseCommand):
    help = "Write a study (its settings and texts, no answers) as one YAML file that import_study reads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", nargs="?", default="", help="address (slug) of the study")
        parser.add_argument("--template", choices=TEMPLATES, help="a built-in study to fill in instead")
        parser.add_argument("--out", default="", help="the file to write; printed where it is not given")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["study"]) == bool(options["template"]):
            raise CommandError("Name a study, or a template with --template.")
        try:
            if options["template"]:
                text = as_yaml(template(options["template"]), to_fill=True)
            else:
                text = as_yaml(describe(study_named(options["study"])))
        except DomainError as refusal:
            raise CommandError(str(refusal)) from refusal
        if not options["out"]:
            self.stdout.write(text, ending="")
            return
        try:
            Path(options["out"]).write_text(text, encoding="utf-8")
        except OSError as problem:
            raise CommandError(
                f"{options['out']} cannot be written: {problem.strerror or problem}."
            ) from problem

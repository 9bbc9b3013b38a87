"""``manage.py import_study FILE``: what a study file would change; with ``--apply`` it does."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies.files import compare, shown
from studies.management.commands.check_study import read
from studies.models import Study
from studies.services.filing import apply_study_file
from turingsite.errors import DomainError


class Command(BaseCommand):
    help = "Show what a study file would make or change; --apply does it. Answers are never touched."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the study file (YAML)")
        parser.add_argument("--apply", action="store_true", help="make or change the study")

    def handle(self, *args: Any, **options: Any) -> None:
        values = read(options["file"], self.stdout).values
        assert values is not None  # noqa: S101  (read refuses a file with errors)
        study = Study.objects.filter(slug=values["slug"]).first()
        self.stdout.write(f"{values['slug']}: " + ("a new study" if study is None else study.status))
        changes = compare(study, values)
        for line in shown(changes):
            self.stdout.write(line)
        refused = [one for one in changes if one.refusal]
        if not options["apply"]:
            if refused:
                raise CommandError(f"{len(refused)} of these can't be applied; see the lines with “!”.")
            self.stdout.write("Nothing was changed. --apply does it.")
            return
        try:
            _study, changed = apply_study_file(values=values)
        except DomainError as refusal:
            words = " ".join(f"{name}: {message}" for name, message in refusal.fields.items())
            raise CommandError(f"{refusal} {words}".strip()) from refusal
        self.stdout.write(f"Applied: {len(changed)} changes." if changed else "Nothing to change.")

"""``manage.py check_study FILE``: what is wrong with a study file, by line and column."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies.files import Checked, check


class Command(BaseCommand):
    help = "Check a study file: what is wrong, at which line and column, and what was probably meant."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the study file (YAML)")

    def handle(self, *args: Any, **options: Any) -> None:
        checked = read(options["file"], self.stdout)
        hints = len(checked.problems)
        self.stdout.write(f"{options['file']} can be applied" + (f", with {hints} hints." if hints else "."))


def read(name: str, out: Any) -> Checked:
    """The file as checked, its problems printed. CommandError where it cannot be used."""
    try:
        checked = check(Path(name).read_bytes())
    except OSError as problem:
        raise CommandError(f"{name} cannot be read: {problem.strerror or problem}.") from problem
    for one in checked.problems:
        out.write(f"{name}:{one}" if one.is_error else f"{name}:{one} (hint)")
    if checked.errors:
        raise CommandError(f"{len(checked.errors)} to mend in {name}.")
    return checked

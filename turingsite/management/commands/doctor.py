"""``manage.py doctor``: what is wrong with this site, and what to set."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import translation
from django.utils.translation import gettext as _

from turingsite.doctor import Finding, Level, examine

SIGNS = {Level.OK: "✓", Level.NOTE: "·", Level.WARNING: "▲", Level.ERROR: "✕"}
LANGUAGES = {"en": "en", "zh": "zh-hans"}


class Command(BaseCommand):
    help = "Say what is wrong with this site and what to set. Exit code 1 if something is an error."
    requires_system_checks = ()  # they are among the findings

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="findings as JSON")
        parser.add_argument("--language", choices=sorted(LANGUAGES), default="en", help="of the words")
        parser.add_argument("--url", metavar="URL", help="where the site is reached (default PUBLIC_URL)")
        parser.add_argument(
            "--here", action="store_true", help="look at this machine only; ask no worker and nobody outside"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with translation.override(LANGUAGES[options["language"]]):
            found = examine(ask=not options["here"], address=options["url"])
            errors = sum(one.level == Level.ERROR for one in found)
            warnings = sum(one.level == Level.WARNING for one in found)
            if options["as_json"]:
                body = {"errors": errors, "warnings": warnings, "findings": [one.as_json() for one in found]}
                self.stdout.write(json.dumps(body, ensure_ascii=False, indent=2))
            else:
                for one in found:
                    self._line(one)
                self.stdout.write(
                    _("Errors: %(errors)s. Warnings: %(warnings)s.")
                    % {"errors": errors, "warnings": warnings}
                )
        if errors:
            sys.exit(1)

    def _line(self, one: Finding) -> None:
        self.stdout.write(f"{SIGNS[one.level]} {one.check:<12} {one.text}")
        if one.advice:
            self.stdout.write(f"  {'':<12} → {one.advice}")

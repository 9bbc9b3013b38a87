"""``manage.py export SLUG --out X.zip``: tidy tables, data dictionary and manifest of a study."""

from __future__ import annotations

import signal
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from studies.exports import DEFAULT_TIER, EXPORT_TIERS, export_study, rows_to_read, study_named
from studies.looks import warning
from studies.models import Language
from studies.sheets import FORMATS
from turingsite.errors import DomainError


class Terminated(KeyboardInterrupt):
    """SIGTERM, taken like Ctrl+C: what was begun is removed."""


@contextmanager
def _ending_like_ctrl_c() -> Iterator[None]:
    def end(*_signal: Any) -> NoReturn:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # Python gives signals to the first alone
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Command(BaseCommand):
    help = "Write a study's data to a zip: one table a file, what every column means, row counts and hashes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="address (slug) of the study")
        parser.add_argument("--out", required=True, help="the zip to write; one that is there is replaced")
        parser.add_argument(
            "--bom", action="store_true", help="begin the tables with a byte-order mark, as Excel wants"
        )
        parser.add_argument(
            "--tier",
            default=DEFAULT_TIER,
            choices=EXPORT_TIERS,
            help="public: days for times, rare profiles coarsened; internal: nicknames, recruiter's ids too",
        )
        parser.add_argument(
            "--formats", default="csv", help="some of csv, jsonl, parquet, with commas between them"
        )
        parser.add_argument(
            "--language",
            default="",
            choices=Language.values,
            help="only dialogues of this language, and what was said of them",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["out"])
        if path.is_dir():
            raise CommandError(f"{path} is a folder. Name the file: {path / (options['study'] + '.zip')}")
        formats = [one.strip() for one in options["formats"].split(",") if one.strip()]
        unknown = [one for one in formats if one not in FORMATS]
        if unknown or not formats:
            raise CommandError(
                f"There is no format “{', '.join(unknown)}”. There are: {', '.join(FORMATS)}."
                if unknown
                else f"Name at least one format: {', '.join(FORMATS)}."
            )
        try:
            study = study_named(options["study"])
            if early := warning(study):
                self.stderr.write(early, self.style.WARNING)
            total = rows_to_read(study, options["tier"], formats, options["language"])
            with _ending_like_ctrl_c():
                manifest = export_study(
                    study=study,
                    path=path,
                    tier=options["tier"],
                    formats=formats,
                    bom=options["bom"],
                    language=options["language"],
                    progress=self._progress(total),
                )
        except DomainError as refusal:
            raise CommandError(str(refusal)) from refusal
        except KeyboardInterrupt as stop:
            number = signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT
            raise CommandError("Stopped. No file was written.", returncode=128 + number) from stop
        except OSError as problem:
            raise CommandError(f"{path} cannot be written: {problem.strerror or problem}.") from problem
        rows = {one["path"]: one["rows"] for one in manifest["files"] if "rows" in one}
        for name, count in rows.items():
            self.stdout.write(f"{count:>9}  {name}")
        self.stdout.write(f"{sum(rows.values()):>9}  rows in {path}")

    def _progress(self, total: int) -> Callable[[int], None] | None:
        """Tell a terminal how far it is, twice a second; elsewhere every ten seconds where it takes long."""
        on_terminal = self.stderr.isatty()
        if not on_terminal and total <= settings.EXPORT_AT_ONCE:
            return None
        done, told, pause = 0, time.monotonic(), 0.5 if on_terminal else 10

        def more(rows: int) -> None:
            nonlocal done, told
            done += rows
            if done >= total or time.monotonic() - told >= pause:
                told = time.monotonic()
                line = f"{done:,} of {total:,} rows"
                end = "\r" if on_terminal and done < total else "\n"
                self.stderr.write(line, style_func=str, ending=end)
                self.stderr.flush()

        return more

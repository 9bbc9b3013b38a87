"""Make the studies `demo` and `demo-chat`, with simulated rounds and games, to look at and to play."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from turingsite.demo import group, labels, seed
from turingsite.errors import DomainError


class Command(BaseCommand):
    help = (
        "Make the studies “demo” and “demo-chat”: dialogues, a researcher, simulated rounds and games. Run "
        "again, it adds the rest."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=200, help="simulated rounds (default 200)")
        parser.add_argument("--games", type=int, default=6, help="simulated group games (default 6)")
        parser.add_argument(
            "--workers", type=int, default=None, help="processes for the sound (default: all processors)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()
        try:
            self._seed(options["rounds"], options["workers"])
            self._seed_chat(options["games"])
        except DomainError as error:
            raise CommandError(str(error)) from error
        port = os.environ.get("PORT", "8000")
        host = os.environ.get("LISTEN", "127.0.0.1").replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        base = f"http://{host}:{port}"
        self.stdout.write(self.style.SUCCESS(f"The demo is ready ({time.monotonic() - began:.0f} s)"))
        self.stdout.write(f"  play      {base}/s/demo/")
        self.stdout.write(f"  desk      {base}/admin/  ({seed.LOGIN} / {seed.PASSWORD})")
        self.stdout.write(f"  chat      {base}/s/demo-chat/")
        self.stdout.write(f"  annotate  {base}/annotate/  ({labels.ANNOTATOR} / {labels.ANNOTATOR_PASSWORD})")
        self.stdout.write(f"  review    {base}/review/  ({labels.REVIEWER} / {labels.REVIEWER_PASSWORD})")
        self.stdout.write("  report    .venv/bin/python manage.py report success-rate --study demo")
        self.stdout.write(
            "All voices are synthetic; stand-ins play the humans. The rounds so far are simulated."
        )

    def _seed(self, wanted: int, workers: int | None) -> None:
        user = seed.researcher()
        study = seed.study(user)
        seed.systems()
        if study.opened_at is None:
            self.stdout.write("Importing the dialogues", ending="")
            self.stdout.write(f": {seed.clips(study, user, self.stdout.write)} are in")
        self.stdout.write("Making them comparable")
        done = seed.process(self.stdout.write, workers=workers)
        failed = seed.failures(study)
        if failed:
            raise CommandError(
                "Some dialogues cannot be played:\n" + "\n".join(f"  {line}" for line in failed)
            )
        self.stdout.write(f"  {done} processed")
        until = timezone.now()
        study = seed.opened(study, user, until=until)
        self.stdout.write("Playing simulated rounds")
        played = seed.rounds(study, wanted=wanted, until=until, say=self.stdout.write)
        self.stdout.write(f"  {played} rounds" if played else "  there are some already")
        self.stdout.write("Annotating and reviewing")
        done = labels.made(study, user, until=until, say=self.stdout.write)
        self.stdout.write(f"  {done} batches" if done else "  that is done already")

    def _seed_chat(self, wanted: int) -> None:
        user, until = seed.researcher(), timezone.now()
        self.stdout.write("Playing simulated group games")
        study = group.opened(group.study(user), user, until=until)
        played = group.games(study, wanted=wanted, until=until, say=self.stdout.write)
        self.stdout.write(f"  {played} games" if played else "  there are some already")

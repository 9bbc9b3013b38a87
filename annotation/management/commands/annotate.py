"""Have bots annotate a study over HTTP and say what they found wrong."""

from __future__ import annotations

import hashlib
import random
from argparse import ArgumentParser
from pathlib import Path
from threading import Lock
from typing import Any

from django.conf import settings as django_settings
from django.core.management.base import BaseCommand, CommandError

from annotation.bots import QUALITIES, Bot, Plan, Result
from annotation.models import AnnotationSettings, Invitation
from dialogues.models import Dialogue, Kind
from dialogues.selectors import names_of_systems
from studies.bots import Watch
from studies.bots.commands import add_bot_options, conclude, mind_people, sent, site_of
from studies.models import Study

WRITING = Lock()


class Command(BaseCommand):
    help = (
        "Bots annotate a study's dialogues through HTTP: consent, guidelines, calibration, batches. Every "
        "third one is clumsy (reload, second tab, double posts). Exit code 1 if something is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_bot_options(parser, bots=3)
        parser.add_argument(
            "--batches", type=int, default=0, help="batches of each, 0 for as many as there are (default)"
        )
        parser.add_argument(
            "--quality",
            default="good,average,careless",
            help="in turn, out of good, average, careless (default all three)",
        )
        parser.add_argument(
            "--invitation",
            default="",
            metavar="CODE",
            help="by which they come, where not everybody annotates",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        base = site_of(options)
        if options["bots"] < 1 or options["batches"] < 0:
            raise CommandError("At least one bot, please, and no negative number of batches.")
        qualities = [word.strip() for word in options["quality"].split(",") if word.strip()]
        if not qualities or set(qualities) - set(QUALITIES):
            raise CommandError(f"A quality is one of {', '.join(QUALITIES)}.")
        study = Study.objects.filter(slug=options["study"]).first()
        self._may(study, options)
        watch, human = Watch(names_of_systems(study) if study is not None else []), humanness_of(study)
        plans = [
            Plan(
                base=base,
                slug=options["study"],
                number=number,
                seed=options["seed"],
                quality=qualities[(number - 1) % len(qualities)],
                batches=options["batches"],
                clumsy=number % 3 == 0,
                listen=options["listen"],
                start=start_of(options),
                human=human,
                tell=self._tell,
            )
            for number in range(1, options["bots"] + 1)
        ]
        results = []
        for result in sent(plans, lambda plan: self._run(plan, watch)):
            results.append(result)
        wrong = [f"bot {result.bot}: {finding}" for result in results for finding in result.findings]
        stopped = [result.bot for result in results if not (result.end or result.findings)]
        wrong += [f"bot {number}: stopped on the way" for number in stopped]
        dialogues, scores = sum(one.dialogues for one in results), sum(one.scores for one in results)
        self.stdout.write(f"{len(results)} bots, {dialogues} dialogues, {scores} scores")
        conclude(self, wrong)

    def _run(self, plan: Plan, watch: Watch) -> Result:
        self._tell(f"bot {plan.number} ({plan.quality}): begins")
        result = Bot(plan, watch).run()
        self._tell(_line(result))
        return result

    def _tell(self, line: str) -> None:
        """A line at once, from whichever bot's thread: whole, and not held back by a pipe."""
        with WRITING:
            self.stdout.write(line)
            self.stdout.flush()

    def _may(self, study: Study | None, options: dict[str, Any]) -> None:
        """Say what keeps bots away as far as the study is in this database."""
        if study is None:
            return
        if not AnnotationSettings.objects.filter(study=study).exists():
            raise CommandError(f"{study.slug} does not annotate: set it up on the desk first.")
        code = options["invitation"]
        if code and not Invitation.objects.filter(study=study, code=code, closed_at=None).exists():
            raise CommandError(f"{study.slug} has no open invitation {code}.")
        if not code and "annotation" not in study.activities:
            raise CommandError(
                f"Not everybody annotates in {study.slug}: give the code of an invitation (--invitation)."
            )
        mind_people(self, study, options)


def start_of(options: dict[str, Any]) -> str:
    """Where bots come in: the invitation's address, marked as a test as the study's own is."""
    if not options["invitation"]:
        return ""
    return f"/s/{options['study']}/annotation/join/{options['invitation']}/?test=1"


def humanness_of(study: Study | None) -> dict[str, float]:
    """How human the clips of the study sound to bots, by the SHA-256 of the playing file."""
    found: dict[str, float] = {}
    if study is None:
        return found
    for dialogue in Dialogue.objects.filter(study_items__study=study).exclude(play_path=""):
        path = Path(django_settings.MEDIA_ROOT) / dialogue.play_path
        if path.is_file():
            name = hashlib.sha256(path.read_bytes()).hexdigest()
            centre = 0.6 if dialogue.kind == Kind.HUMAN_HUMAN else -0.5
            found[name] = random.Random(name).gauss(centre, 0.4)
    return found


def _line(result: Result) -> str:
    done = f"{result.calibrations} of calibration, {result.batches} of work"
    return (
        f"bot {result.bot} ({result.quality}): {done}, {result.dialogues} dialogues, "
        f"{result.end or 'stopped early'}"
    )

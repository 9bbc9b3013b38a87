"""Have bots play the speech game of a study over HTTP and say what they found wrong."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dialogues.selectors import names_of_systems
from games.speech.bots import Bot, Plan, Result
from studies.bots import Watch
from studies.bots.commands import add_bot_options, conclude, mind_people, sent, site_of
from studies.models import Study


class Command(BaseCommand):
    help = (
        "Bots play the speech game of a study through HTTP, from the welcome page to the debrief; every "
        "second one is clumsy (double posts, back, reload, two tabs, lost answers). Exit code 1 if something "
        "is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_bot_options(parser, bots=4)
        parser.add_argument("--rounds", type=int, default=1, help="rounds each of them plays (default 1)")

    def handle(self, *args: Any, **options: Any) -> None:
        base = site_of(options)
        if options["bots"] < 1 or options["rounds"] < 1:
            raise CommandError("At least one bot and one round, please.")
        study = Study.objects.filter(slug=options["study"]).first()
        if study is not None:
            mind_people(self, study, options)
        watch = Watch(names_of_systems(study) if study is not None else [])
        plans = [
            Plan(
                base=base,
                slug=options["study"],
                number=number,
                seed=options["seed"],
                rounds=options["rounds"],
                clumsy=number % 2 == 0,
                listen=options["listen"],
            )
            for number in range(1, options["bots"] + 1)
        ]
        results = []
        for result in sent(plans, lambda plan: Bot(plan, watch).run()):
            results.append(result)
            self.stdout.write(_line(result))
        wrong = [f"bot {result.bot}: {finding}" for result in results for finding in result.findings]
        wrong += [
            f"bot {r.bot}: did not reach the debrief"
            for r in results
            if not r.reached_debrief and not r.findings
        ]
        verdicts = sum(result.verdicts for result in results)
        self.stdout.write(
            f"{len(results)} bots, {sum(r.rounds for r in results)} rounds, {verdicts} verdicts"
        )
        conclude(self, wrong)


def _line(result: Result) -> str:
    state = "debrief reached" if result.reached_debrief else "stopped early"
    kind = "clumsy" if result.clumsy else "plain"
    return f"bot {result.bot} ({kind}): {result.rounds} rounds, {result.verdicts} verdicts, {state}"

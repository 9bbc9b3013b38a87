"""Have bots play the speech game of a study over HTTP and say what they found wrong."""

from __future__ import annotations

import os
import urllib.parse
from argparse import ArgumentParser
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dialogues.models import System
from games.speech.bots import Bot, Plan, Result
from studies.bots import Watch
from studies.models import Study

AT_ONCE = 32


class Command(BaseCommand):
    help = (
        "Bots play the speech game of a study through HTTP, from the welcome page to the debrief; every "
        "second one is clumsy (double posts, back, reload, two tabs, lost answers). Exit code 1 if something "
        "is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="SLUG", help="address of the study")
        parser.add_argument("--bots", type=int, default=4, help="how many bots (default 4)")
        parser.add_argument("--rounds", type=int, default=1, help="rounds each of them plays (default 1)")
        parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same bots")
        parser.add_argument(
            "--base-url", default="", help="where the site runs (default this machine, PORT or 8000)"
        )
        parser.add_argument(
            "--listen",
            choices=["real", "claimed"],
            default="real",
            help="real: as long as the clips; claimed: at once, where the study allows test participants",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        base = options["base_url"] or f"http://127.0.0.1:{os.environ.get('PORT', '8000')}"
        parts = urllib.parse.urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CommandError(f"{base} is no address: it begins with http:// or https://")
        if options["bots"] < 1 or options["rounds"] < 1:
            raise CommandError("At least one bot and one round, please.")
        study = Study.objects.filter(slug=options["study"]).first()
        if study is not None and options["listen"] == "claimed" and not study.test_participants:
            raise CommandError(
                f"{study.slug} takes no test participants: nobody may claim to have heard (--listen real)."
            )
        if study is not None and not study.test_participants:
            self.stderr.write(f"{study.slug} takes no test participants: bots count as people.")
        watch = Watch(secrets_of(study))
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
        for result in _played(plans, watch):
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
        if wrong:
            raise CommandError("Something is wrong:\n" + "\n".join(f"  {line}" for line in wrong))
        self.stdout.write(self.style.SUCCESS("Nothing found wrong"))


def secrets_of(study: Study | None) -> list[str]:
    """Names that must not be seen before a verdict, as far as the study is in this database."""
    if study is None:
        return []
    systems = System.objects.filter(parties__dialogue__study_items__study=study).distinct()
    return [name for system in systems for name in (system.name, system.code)]


def _played(plans: list[Plan], watch: Watch) -> Iterator[Result]:
    with ThreadPoolExecutor(min(AT_ONCE, len(plans))) as pool:
        for done in [pool.submit(Bot(plan, watch).run) for plan in plans]:
            yield done.result()


def _line(result: Result) -> str:
    state = "debrief reached" if result.reached_debrief else "stopped early"
    kind = "clumsy" if result.clumsy else "plain"
    return f"bot {result.bot} ({kind}): {result.rounds} rounds, {result.verdicts} verdicts, {state}"

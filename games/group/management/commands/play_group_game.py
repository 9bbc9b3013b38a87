"""Have bots play the group game of a study over HTTP and the socket, and say what they found wrong."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from games.group.bots import Result
from games.group.bots.calls import Party, send
from games.group.bots.checks import seats_drawn, wrong_in
from games.group.models import Game, GroupSettings
from studies.bots import Watch
from studies.bots.commands import conclude, site_of
from studies.models import Study


class Command(BaseCommand):
    help = (
        "Bots play the group game of a study as people do, from the welcome page to the debrief, beside the "
        "study's agent. Half of them behave badly: lost networks, locked phones, two tabs, late votes, "
        "floods, no socket. Exit code 1 if something is wrong; Ctrl-C sends them home."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="SLUG", help="address of the study")
        parser.add_argument("--games", type=int, default=1, help="how many games (default 1)")
        parser.add_argument("--bots", type=int, default=0, help="bots in a game (default: all its people)")
        parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same bots")
        parser.add_argument(
            "--base-url", default="", help="where the site runs (default this machine, PORT or 8000)"
        )
        parser.add_argument("--steady", action="store_true", help="no faults: all bots behave")
        parser.add_argument(
            "--pace", type=float, default=8.0, help="seconds between a bot's messages (default 8)"
        )
        parser.add_argument(
            "--sleep", type=float, default=70.0, help="seconds a locked phone sleeps (default 70)"
        )
        parser.add_argument(
            "--patience", type=float, default=300.0, help="seconds a bot waits for a game (default 300)"
        )
        parser.add_argument("--at-once", type=int, default=10, help="games side by side (default 10)")
        parser.add_argument("--language", default="", help="the language to play in (default: drawn)")

    def handle(self, *args: Any, **options: Any) -> None:
        base = site_of(options)
        study = Study.objects.filter(slug=options["study"]).first()
        settings = GroupSettings.objects.filter(study=study).first() if study is not None else None
        bots = options["bots"] or (settings or GroupSettings()).people
        if min(options["games"], bots, options["at_once"]) < 1 or options["pace"] <= 0:
            raise CommandError("At least one game, one bot and one game at once, please, and a pace above 0.")
        if study is not None and not study.test_participants:
            self.stderr.write(f"{study.slug} takes no test participants: bots count as people.")
        party = Party(
            base=base,
            slug=options["study"],
            games=options["games"],
            bots=bots,
            seed=options["seed"],
            faults=not options["steady"],
            pace=options["pace"],
            sleep=options["sleep"],
            patience=options["patience"],
            at_once=options["at_once"],
            language=options["language"],
        )
        results = self._play(party, party.games * bots)
        rooms = {result.room for result in results if result.room}
        wrong = [f"bot {result.bot}: {finding}" for result in results for finding in result.findings]
        wrong += [
            f"bot {r.bot}: did not reach the debrief"
            for r in results
            if not r.reached_debrief and not r.findings
        ]
        if study is not None:
            wrong += wrong_in(rooms)
            ends = Counter(Game.objects.filter(room__code__in=rooms).values_list("end", flat=True))
            ties, first = seats_drawn(rooms)
            self.stdout.write(f"ends: {dict(ends)}; ties: {ties}, {first} of them took the first of the tied")
        habits = Counter(str(result.habit) for result in results)
        self.stdout.write(
            f"{len(results)} bots ({', '.join(f'{n} {habit}' for habit, n in habits.most_common())}), "
            f"{len(rooms)} rooms, {sum(r.messages for r in results)} messages, "
            f"{sum(r.votes for r in results)} votes"
        )
        conclude(self, wrong)

    def _play(self, party: Party, expected: int) -> list[Result]:
        stopping = threading.Event()
        before = _on_interrupt(stopping)
        results = []
        try:
            for result in send(party, Watch(), stopping.is_set):
                results.append(result)
                self.stdout.write(f"{len(results)}/{expected} {_line(result)}")
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)
        if stopping.is_set():
            raise CommandError(f"Stopped: {len(results)} of {expected} bots came home.")
        return results


def _line(result: Result) -> str:
    state = "debrief reached" if result.reached_debrief else "stopped early"
    return f"bot {result.bot} ({result.habit}): {result.messages} messages, {result.votes} votes, {state}"


def _on_interrupt(stopping: threading.Event) -> Any:
    """Let the first Ctrl-C send the bots home; what stood there before (None outside the main thread)."""
    if threading.current_thread() is not threading.main_thread():
        return None
    return signal.signal(signal.SIGINT, lambda *_: stopping.set())

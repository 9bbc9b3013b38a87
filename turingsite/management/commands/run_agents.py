"""Play the agents' seats of group games, and send bots that were called, until told to stop."""

from __future__ import annotations

import signal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from games.group.agent.running import MOST_GAMES, THREADS
from turingsite.agents import runner


class Command(BaseCommand):
    help = (
        "Play the agents of group games and send the bots that were called. Several may run at once, on "
        "several machines: each game is played by one of them, and by another within seconds if that one is "
        "killed. Not needed where manage.py serve does all in one process."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--threads", type=int, default=THREADS, help="agents that may think at the same moment"
        )
        parser.add_argument("--games", type=int, default=MOST_GAMES, help="games it plays at most")

    def handle(self, *args: Any, threads: int, games: int, **options: Any) -> None:
        if threads < 1 or games < 1:
            raise CommandError("At least one thread and one game, please.")
        one = runner(threads=threads, most=games)
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: one.stop())
        one.run()

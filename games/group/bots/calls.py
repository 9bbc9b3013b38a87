"""Bots sent in groups, one group a game: by the command, or by somebody who pressed a button on the desk."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from django.conf import settings

from games.group.bots.player import Bot, Plan, Result
from games.group.bots.trouble import Habit, draw
from games.group.models import BotCall
from studies.bots import Watch

STAGGER = 0.15  # seconds between two bots that come


@dataclass(frozen=True)
class Party:
    """``games`` times ``bots`` of them. ``faults``: with the habits of real phones; else all behave."""

    base: str
    slug: str
    games: int
    bots: int
    seed: int
    faults: bool = True
    pace: float = 8.0
    sleep: float = 70.0
    patience: float = 600.0
    at_once: int = 10
    language: str = ""

    def plans(self, stopped: Callable[[], bool]) -> Iterator[Plan]:
        """One for each bot; the same seed gives the same habits and languages."""
        for game in range(self.games):
            rng = random.Random(f"{self.seed}/{game}")
            language = self.language or rng.choice(["en", "zh"])  # one for all: they are to meet
            for place in range(self.bots):
                yield Plan(
                    base=self.base,
                    slug=self.slug,
                    number=game * self.bots + place + 1,
                    seed=self.seed,
                    habit=draw(rng) if self.faults else Habit.PLAIN,
                    pace=self.pace,
                    sleep=self.sleep,
                    patience=self.patience,
                    language=language,
                    stopped=stopped,
                )


def send(party: Party, watch: Watch, stopped: Callable[[], bool]) -> Iterator[Result]:
    """Let them play; the results in the order in which the bots come home."""
    with ThreadPoolExecutor(min(party.games, party.at_once) * party.bots) as pool:
        running = []
        for plan in party.plans(stopped):
            running.append(pool.submit(lambda plan: Bot(plan, watch).run(), plan))
            if len(running) <= party.at_once * party.bots:
                time.sleep(STAGGER)
        for done in as_completed(running):
            yield done.result()


def address() -> str:
    """Where this site answers: as it is known outside, else this machine."""
    return (settings.PUBLIC_URL or f"http://127.0.0.1:{os.environ.get('PORT', '8000')}").rstrip("/")


def run_call(call: BotCall, stopped: Callable[[], bool]) -> list[str]:
    """Send the bots of one call to this site; what they found wrong. ``stopped``: whether to go home."""
    party = Party(
        base=address(),
        slug=call.study.slug,
        games=1,
        bots=call.bots,
        seed=call.seed,
        faults=False,
        language=call.language,
    )
    return [
        f"bot {result.bot}: {finding}"
        for result in send(party, Watch(), stopped)
        for finding in result.findings
    ]

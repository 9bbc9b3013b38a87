"""What goes wrong on real phones, as one bot's habit: lost networks, two tabs, floods, late votes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum


class Habit(StrEnum):
    PLAIN = "plain"
    DROPS = "drops"  # the network goes and comes back
    SLEEPS = "sleeps"  # the phone is locked for a while, with the socket dead
    TABS = "tabs"  # everything is open twice
    LATE = "late"  # votes when the time is over, and twice
    FLOODS = "floods"  # far more messages than anybody may send
    POLLS = "polls"  # no socket at all
    SILENT = "silent"  # neither writes nor votes
    LEAVES = "leaves"  # closes the page for good


#: How often each comes; half of the bots behave.
WEIGHTS = {
    Habit.PLAIN: 8, Habit.DROPS: 2, Habit.SLEEPS: 1, Habit.TABS: 1, Habit.LATE: 1, Habit.FLOODS: 1,
    Habit.POLLS: 1, Habit.SILENT: 1, Habit.LEAVES: 0.5,
}  # fmt: skip


def draw(rng: random.Random) -> Habit:
    return rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]


@dataclass
class Times:
    """When the next trouble comes, by the bot's own clock. ``sleep``: seconds that the phone is locked."""

    rng: random.Random
    sleep: float
    next_at: float = 0.0

    def due(self, now: float, every: tuple[float, float]) -> bool:
        """Whether it is time again; the first time sets the clock alone."""
        if not self.next_at:
            self.next_at = now + self.rng.uniform(*every)
            return False
        if now < self.next_at:
            return False
        self.next_at = now + self.rng.uniform(*every)
        return True

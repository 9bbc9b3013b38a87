"""Simulated people of the demo: who comes when, and what they say of a dialogue.

A verdict is drawn from a logistic model: a person's skill times how human the dialogue sounds, plus the
person's leaning. The numbers are invented, set so that people call the human kind human about three times
in four.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dialogues.models import Dialogue, Kind
from studies.models import TurnedAway

COME_AT = {8: 1, 9: 2, 12: 4, 13: 3, 17: 2, 18: 3, 19: 5, 20: 6, 21: 6, 22: 4}  # hour → how many come


@dataclass
class Person:
    """One simulated player and their clock. ``now`` moves on with everything they do."""

    rng: random.Random
    now: datetime
    language: str
    skill: float
    leaning: float
    attentive: bool
    rounds: int
    leaves_within: bool  # stops in the middle of one round more
    ending: str  # "", "stop", "withdraw", "erase"

    def wait(self, low: float, high: float) -> datetime:
        self.now += timedelta(seconds=self.rng.uniform(low, high))
        return self.now


def draw_people(seed: int, rounds: int) -> list[Person | str]:
    """Who comes until they would finish ``rounds`` rounds. A text: why somebody went no further."""
    rng = random.Random(seed)
    people: list[Person | str] = []
    planned = 0
    while planned < rounds:
        if rng.random() < 0.08:
            people.append(rng.choice([TurnedAway.Reason.UNDER_AGE, TurnedAway.Reason.CONSENT_REFUSED]))
            continue
        person = draw_person(random.Random(f"{seed}/{len(people)}"))
        person.rounds = min(person.rounds, rounds - planned)
        planned += person.rounds
        people.append(person)
    return people


def arrivals(rng: random.Random, count: int, *, until: datetime, days: int) -> list[datetime]:
    """When ``count`` people come: mostly in the evening, some of them in the last hours before ``until``."""
    hours, weights = list(COME_AT), list(COME_AT.values())
    found = []
    for _ in range(count):
        day = until - timedelta(days=rng.uniform(1, days))
        found.append(
            day.replace(
                hour=rng.choices(hours, weights)[0], minute=rng.randrange(60), second=rng.randrange(60)
            )
        )
    latest = min(count, max(3, count // 12))
    found[:latest] = [until - timedelta(hours=rng.uniform(1.0, 3.0)) for _ in range(latest)]
    return sorted(found)


def draw_person(rng: random.Random) -> Person:
    rounds = rng.choices([0, 1, 2, 3, 4, 5], [8, 28, 22, 18, 14, 10])[0]
    return Person(
        rng=rng,
        now=datetime.min.replace(tzinfo=UTC),
        language=rng.choices(["en", "zh"], [55, 45])[0],
        skill=max(0.05, rng.gauss(1.0, 0.45)),
        leaning=rng.gauss(0.1, 0.45),
        attentive=rng.random() > 0.08,
        rounds=rounds,
        leaves_within=rounds == 0 or rng.random() < 0.15,
        ending=rng.choices(["", "stop", "withdraw", "erase"], [50, 40, 6, 4])[0],
    )


def judgement(person: Person, human: float) -> str:
    """What the person says of a dialogue that sounds ``human`` (log odds); or a coin, unheard."""
    odds = person.leaning + person.skill * human if person.attentive else 0.0
    return "human" if person.rng.random() < 1 / (1 + math.exp(-odds)) else "machine"


def how_human(dialogues: Sequence[Dialogue], numbers: dict[str, float], *, seed: int) -> dict[int, float]:
    """Log odds per dialogue: the number of its system (or of the human kind), and what is its own."""
    found = {}
    for dialogue in dialogues:
        own = random.Random(f"{seed}/{dialogue.external_id}").gauss(0, 0.4)
        system = next((party.system for party in dialogue.parties.all() if party.label == "B"), None)
        key = "human" if dialogue.kind == Kind.HUMAN_HUMAN else system.code if system else ""
        found[dialogue.pk] = numbers.get(key, -1.0) + own
    return found

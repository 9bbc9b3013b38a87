"""Which dialogue comes next, pure: the kind by a biased coin, then system and dialogue by deficit. No rows
here.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from studies.assignment import levelling, pick, tilted

HUMAN = "human_human"
MACHINES = ("human_machine", "pseudo_human")


class Candidate(NamedTuple):
    """A dialogue of the study in one language. ``system`` is speaker B's, ``speaker`` is the voice of A."""

    dialogue: int
    kind: str
    opening: str
    system: int | None
    speaker: int | None


class Chosen(NamedTuple):
    candidate: Candidate
    record: dict[str, Any]  # all that decided it


def shares(mix: str, kinds: Collection[str]) -> dict[str, float]:
    """Share of each kind present: ``half`` gives humans half, the machine kinds the rest; ``published`` all
    the same.
    """
    if mix == "published" or HUMAN not in kinds:
        return {kind: 1 / len(kinds) for kind in sorted(kinds)}
    machines = [kind for kind in MACHINES if kind in kinds]
    if not machines:
        return {HUMAN: 1.0}
    return {HUMAN: 0.5} | {kind: 0.5 / len(machines) for kind in machines}


def draw(
    pool: Sequence[Candidate],
    counts: Mapping[int, int],
    *,
    mix: str,
    exposed: Collection[int],
    in_round: Collection[int],
    rng: random.Random,
) -> Chosen | None:
    """The next dialogue for somebody, or None where nothing may be given.

    ``counts``: completed verdicts and live leases per dialogue; ``exposed``: what this person was given in
    the study; ``in_round``: the dialogues of the open round, whose openings, systems and speakers A may not
    come again. The kind is drawn from the mix before anything else. Where it has no candidate left, another
    kind of the same truth takes its place, then any: the record says so.
    """
    here = [candidate for candidate in pool if candidate.dialogue in in_round]
    openings = {candidate.opening for candidate in here if candidate.opening}
    systems = {candidate.system for candidate in here if candidate.system}
    speakers = {candidate.speaker for candidate in here if candidate.speaker}
    free: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    kinds: Counter[str] = Counter()
    by_system: Counter[tuple[str, int]] = Counter()
    by_dialogue = {candidate.dialogue: candidate for candidate in pool}
    for dialogue, kind, opening, system, speaker in pool:
        count = counts.get(dialogue, 0)
        kinds[kind] += count
        by_system[kind, system or 0] += count
        if (
            dialogue not in exposed
            and dialogue not in in_round
            and opening not in openings
            and system not in systems
            and speaker not in speakers
        ):
            free[kind][system or 0].append(dialogue)
    if not free:
        return None
    odds = tilted(shares(mix, kinds.keys()), kinds)
    wished = pick(rng, odds)
    kind = _nearest(wished, free.keys(), odds, rng)
    system_counts = {system: by_system[kind, system] for system in free[kind]}
    system = pick(rng, levelling(system_counts))
    candidates = {dialogue: counts.get(dialogue, 0) for dialogue in free[kind][system]}
    weights = levelling(candidates)
    dialogue = pick(rng, weights)
    record = {
        "odds": {key: round(value, 4) for key, value in odds.items()},
        "wished": wished,
        "kind": kind,
        "systems": system_counts,
        "candidates": len(candidates),
        "free": sum(len(some) for group in free.values() for some in group.values()),
        "levels": dict(
            sorted(Counter(candidates.values()).items())
        ),  # count of verdicts → how many dialogues have it
        "weight": round(weights[dialogue] / sum(weights.values()), 6),
        "chosen": dialogue,
    }
    return Chosen(by_dialogue[dialogue], record)


def _nearest(wished: str, present: Collection[str], odds: Mapping[str, float], rng: random.Random) -> str:
    """``wished`` where it has candidates, else a kind of the same truth, else any, each by its odds."""
    if wished in present:
        return wished
    alike = {kind: odds[kind] for kind in sorted(present) if (kind == HUMAN) == (wished == HUMAN)}
    return pick(rng, alike or {kind: odds[kind] for kind in sorted(present)})

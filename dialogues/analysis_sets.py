"""The analysis sets: stored rules over verdicts, with counts by reason. Nothing is ever deleted.

``all`` valid verdicts; ``published`` those of finished rounds; ``first_round``; ``per_protocol`` those
without any break of protocol. Each starts from ``all``. Works on tidy rows: exports give the same sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dialogues.models import Choice

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Selection:
    """Verdicts in a set, and what was left out: by reason, and how many verdicts that is in all."""

    kept: list[Row]
    excluded: dict[str, int]
    excluded_total: int


def select(verdicts: Iterable[Row], name: str) -> Selection:
    """The verdicts of the set ``name``; KeyError for an unknown one.

    A verdict that is excluded from ``all`` counts under its stored reason. ``unscored`` answers decide
    nothing and count under that word. A verdict with several breaks of protocol counts under each of them.
    """
    beyond = _RULES[name]
    kept: list[Row] = []
    reasons: Counter[str] = Counter()
    left_out = 0
    for verdict in verdicts:
        why = _not_in_all(verdict) or beyond(verdict)
        if why:
            reasons.update(why)
            left_out += 1
        else:
            kept.append(verdict)
    return Selection(kept, dict(sorted(reasons.items())), left_out)


def sets_of(verdict: Row) -> tuple[str, ...]:
    """The sets that have the verdict."""
    if _not_in_all(verdict):
        return ()
    return tuple(name for name, beyond in _RULES.items() if not beyond(verdict))


def _not_in_all(verdict: Row) -> list[str]:
    if verdict["exclusion"]:
        return [str(verdict["exclusion"])]
    return ["unscored"] if verdict["choice"] == Choice.UNSCORED else []


def _nothing_more(verdict: Row) -> list[str]:
    return []


def _unfinished(verdict: Row) -> list[str]:
    return [] if verdict["round_finished"] else ["round_not_finished"]


def _later(verdict: Row) -> list[str]:
    return [] if verdict["round_number"] == 1 else ["later_round"]


def _breaks(verdict: Row) -> list[str]:
    return [str(one) for one in verdict["protocol_breaks"] or []]


_RULES: dict[str, Callable[[Row], list[str]]] = {
    "all": _nothing_more,
    "published": _unfinished,
    "first_round": _later,
    "per_protocol": _breaks,
}

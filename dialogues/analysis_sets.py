"""The analysis sets: stored rules over verdicts, with counts by reason. Nothing is ever deleted.

``all`` valid verdicts; ``published`` those of finished rounds; ``first_round``; ``per_protocol`` those
without any break of protocol. Each starts from ``all``. Works on tidy tables: exports give the same sets.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogues.models import Choice
from studies.tables import Table

Row = Mapping[str, Any]
Mask = NDArray[np.bool_]
#: The columns that the rules look at.
COLUMNS = ("exclusion", "choice", "round_finished", "round_number", "protocol_breaks")


@dataclass(frozen=True)
class Selection:
    """Which verdicts are in a set, and what was left out: by reason, and how many verdicts that is in all."""

    kept: Mask
    excluded: dict[str, int]
    excluded_total: int


class Sets:
    """The sets of some verdicts of a table: those in ``among``."""

    def __init__(self, verdicts: Table, among: Mask) -> None:
        self._verdicts, self._among = verdicts, among
        stored = verdicts.column("exclusion")
        free = equal(stored, "")
        unscored = free & equal(verdicts.column("choice"), Choice.UNSCORED)
        self._valid = among & free & ~unscored
        self._reasons = Counter(stored[at] for at in np.flatnonzero(among & ~free))
        self._reasons["unscored"] += int((among & unscored).sum())

    def select(self, name: str) -> Selection:
        """The verdicts of the set ``name``; KeyError for an unknown one.

        A verdict that is excluded from ``all`` counts under its stored reason. ``unscored`` answers decide
        nothing and count under that word. A verdict with several breaks of protocol counts under each.
        """
        rule = _RULES[name]
        values = self._verdicts.column(rule.column)
        holds = np.fromiter(map(rule.holds, values), np.bool_, len(values))
        reasons = self._reasons.copy()
        for at in np.flatnonzero(self._valid & ~holds):
            reasons.update(rule.reasons(values[at]))
        kept = self._valid & holds
        return Selection(
            kept,
            {why: n for why, n in sorted(reasons.items()) if n},
            int(self._among.sum()) - int(kept.sum()),
        )


def equal(words: Sequence[str], word: str) -> Mask:
    """Which of the words are that word."""
    return np.fromiter(map(str(word).__eq__, words), np.bool_, len(words))


def sets_of(verdict: Row) -> tuple[str, ...]:
    """The sets that have the verdict."""
    if verdict["exclusion"] or verdict["choice"] == Choice.UNSCORED:
        return ()
    return tuple(name for name, rule in _RULES.items() if rule.holds(verdict[rule.column]))


@dataclass(frozen=True)
class _Rule:
    """What a set asks beyond ``all``: of one column, and the reasons for which a value is left out."""

    column: str
    holds: Callable[[Any], bool]
    reasons: Callable[[Any], list[str]]


# What holds is asked of every verdict, so it is no function of ours.
_RULES = {
    "all": _Rule("choice", partial(operator.is_not, None), lambda choice: []),
    "published": _Rule("round_finished", bool, lambda finished: ["round_not_finished"]),
    "first_round": _Rule("round_number", partial(operator.eq, 1), lambda number: ["later_round"]),
    "per_protocol": _Rule("protocol_breaks", operator.not_, lambda breaks: [str(one) for one in breaks]),
}

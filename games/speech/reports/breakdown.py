"""A share by round, by recruiting source, by how long people stayed: who plays on is selected by score."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.speech.reports.figures import COUNTS, HOW_TWO_WAY, share_row
from games.speech.reports.judged import Judged, Labels, Mask, Numbers
from studies.estimates import NOTE, interval_headings
from studies.reports import Heading, ReportTable

LAST_ROUND = 6  # this one and later ones are one row
FEW_ROUNDS = 2

FACTORS = {
    "round": gettext_lazy("round"),
    "rounds_played": gettext_lazy("rounds that the person played"),
    "source": gettext_lazy("recruiting source"),
    "strategy": gettext_lazy("strategy"),
    "topic": gettext_lazy("topic"),
}


def table(
    judged: Judged,
    groups: list[tuple[str, Any, Mask]],
    of: str,
    name: str,
    label: Any,
    *,
    names: Mapping[str, str],
    key: str = "breakdown",
    title: Any = None,
    factors: Collection[str] = tuple(FACTORS),
) -> ReportTable:
    """The share ``of`` by factor and level, for each group (key, words, mask).

    ``names``: what strategies and topics are called, by code.
    """
    rows: list[dict[str, Any]] = []
    for group, _words, inside in groups:
        own = judged.where(inside)
        for factor, levels in _factors(own).items():
            if factor not in factors:
                continue
            for level in levels.among(own.all):
                rows.append(
                    {
                        "group": group,
                        "factor": factor,
                        "level": level or _("(none)"),
                        **share_row(own, levels == level, of, name),
                    }
                )
    return ReportTable(
        key,
        title or gettext_lazy("By round, by recruiting source, by how long people stayed"),
        (
            Heading("group", gettext_lazy("group"), "text", {one: words for one, words, _mask in groups}),
            Heading("factor", gettext_lazy("by"), "text", FACTORS),
            Heading("level", gettext_lazy("level"), "text", names),
            *COUNTS,
            *interval_headings(name, label),
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


def round_words(number: int) -> str:
    """A round as a level; empty where it is not known (0: brought in from elsewhere)."""
    if number < 1:
        return ""
    return str(number) if number < LAST_ROUND else f"{LAST_ROUND}+"


def _factors(judged: Judged) -> dict[str, Labels]:
    def words(numbers: Numbers, word: Callable[[int], str]) -> Labels:
        return Labels.of(map(word, range(int(numbers.max(initial=0)) + 1)), numbers)

    return {
        "round": words(judged.round_number, round_words),
        "rounds_played": words(judged.rounds_played, _stayed),
        "source": judged.source,
        "strategy": judged.strategy,
        "topic": judged.topic,
    }


def _stayed(rounds: int) -> str:
    return f"≤ {FEW_ROUNDS}" if rounds <= FEW_ROUNDS else f"> {FEW_ROUNDS}"

"""A share by round, by recruiting source, by how long people stayed: who plays on is selected by score."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from numpy.typing import NDArray

from games.speech.reports.figures import COUNTS, HOW_TWO_WAY, NOTE, interval_headings, share_row
from games.speech.reports.judged import Judged, Mask
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


def table(judged: Judged, groups: list[tuple[str, Any, Mask]], of: str, name: str, label: Any) -> ReportTable:
    """The share ``of`` by factor and level, for each group (key, words, mask)."""
    rows: list[dict[str, Any]] = []
    for key, _words, inside in groups:
        for factor, levels in _factors(judged).items():
            for level in sorted(set(levels[inside].tolist())):
                mask = inside & (levels == level)
                rows.append(
                    {
                        "group": key,
                        "factor": factor,
                        "level": level or _("(none)"),
                        **share_row(judged, mask, of, name),
                    }
                )
    return ReportTable(
        "breakdown",
        gettext_lazy("By round, by recruiting source, by how long people stayed"),
        (
            Heading("group", gettext_lazy("group"), "text", {key: words for key, words, _mask in groups}),
            Heading("factor", gettext_lazy("by"), "text", FACTORS),
            Heading("level", gettext_lazy("level"), "text"),
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


def _factors(judged: Judged) -> dict[str, NDArray[Any]]:
    def words(values: list[str]) -> NDArray[Any]:
        array = np.empty(judged.n, dtype=object)
        array[:] = values
        return array

    rounds = [round_words(number) for number in judged.round_number.tolist()]
    stayed = [
        f"≤ {FEW_ROUNDS}" if r <= FEW_ROUNDS else f"> {FEW_ROUNDS}" for r in judged.rounds_played.tolist()
    ]
    return {
        "round": words(rounds),
        "rounds_played": words(stayed),
        "source": judged.source,
        "strategy": judged.strategy,
        "topic": judged.topic,
    }

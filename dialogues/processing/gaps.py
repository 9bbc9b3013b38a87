"""The gaps between people that a gap profile draws from: those of the dialogue's own studies first."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from dialogues.models import Dialogue, Kind, Turn
from turingsite.audio import turns as talk
from turingsite.audio.gaps import FEWEST, PROFILES


class Pool(NamedTuple):
    """Human gaps in seconds and where they come from: ``study``, ``corpus``, or ``none`` (too few)."""

    gaps: list[float]
    source: str


def human_gaps(dialogue: Dialogue, profile: str) -> Pool:
    """Gaps of human–human dialogues in the studies of ``dialogue``, else in the corpus."""
    bound = PROFILES[profile].over if profile in PROFILES else 0.0
    human = Turn.objects.filter(dialogue__kind=Kind.HUMAN_HUMAN, start__isnull=False, end__isnull=False)
    studies = list(dialogue.study_items.values_list("study", flat=True))
    choices = {
        "study": human.filter(dialogue__study_items__study__in=studies).distinct(),
        "corpus": human,
    }
    for source, rows in choices.items():
        if source == "study" and not studies:
            continue
        found = _gaps(
            rows.order_by("dialogue", "index").values_list("dialogue", "party__label", "start", "end")
        )
        if sum(0 < gap <= bound for gap in found) >= FEWEST:
            return Pool(found, source)
    return Pool([], "none")


def _gaps(rows: Iterable[tuple[int, str, float | None, float | None]]) -> list[float]:
    found: list[float] = []
    for _, own in groupby(rows, key=lambda row: row[0]):
        turns = [talk.Turn(label, start or 0.0, end or 0.0) for _, label, start, end in own]
        # sorted: a draw must not depend on the order in which rows were written
        found += [gap.length for gap in talk.gaps(sorted(turns, key=lambda t: (t.start, t.end)))]
    return sorted(round(gap, 4) for gap in found)

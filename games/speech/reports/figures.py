"""Rows of the game's tables: headings that several have, shares of verdicts with what they rest on."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy

from games.speech.reports.judged import Judged, Mask
from studies.estimates import cells, enough
from studies.models import Language
from studies.reports import Heading
from turingsite import stats
from turingsite.stats.arrays import clusters

COUNTS = (
    Heading("n", gettext_lazy("verdicts"), "count"),
    Heading("persons", gettext_lazy("persons"), "count"),
    Heading("dialogues", gettext_lazy("dialogues"), "count"),
)
LANGUAGE = Heading(
    "language", gettext_lazy("language"), "text", {"all": gettext_lazy("pooled"), **dict(Language.choices)}
)
KIND = Heading(
    "kind", gettext_lazy("kind"), "text", {"all": gettext_lazy("all"), "balanced": gettext_lazy("balanced")}
)


def counts(judged: Judged, mask: Mask) -> dict[str, int]:
    return {
        "n": int(mask.sum()),
        "persons": clusters(judged.person[mask]),
        "dialogues": clusters(judged.dialogue[mask]),
    }


def share(judged: Judged, mask: Mask, of: str, *, level: float = 0.95) -> stats.Estimate:
    """Share of ones in the array ``of`` ("human": judged human, "correct") with the two-way interval."""
    at = np.flatnonzero(mask)
    return stats.proportion(getattr(judged, of)[at], judged.person[at], judged.dialogue[at], level=level)


def share_row(
    judged: Judged, mask: Mask, of: str, name: str, estimate: stats.Estimate | None = None
) -> dict[str, Any]:
    """Counts and the share with its interval, which may have been made already."""
    estimate = share(judged, mask, of) if estimate is None else estimate
    rests_on = {"n": estimate.n, "persons": estimate.participants, "dialogues": estimate.items}
    return {**rests_on, **cells(estimate, name)}


def beside(published: Judged | None, mask: Mask | None, of: str, name: str) -> dict[str, Any]:
    """The same share in the set ``published``, for the columns that stand beside the headline."""
    if published is None or mask is None:
        return {}
    estimate = share(published, mask, of)
    good = enough(estimate)
    return {
        "published_n": estimate.n,
        f"published_{name}": estimate.value if good else None,
        "published_low": estimate.low if good else None,
        "published_high": estimate.high if good else None,
    }


def published_headings(name: str, label: Any) -> tuple[Heading, ...]:
    return (
        Heading("published_n", gettext_lazy("verdicts (published)"), "count"),
        Heading(f"published_{name}", label, "figure"),
        Heading("published_low", gettext_lazy("low (published)")),
        Heading("published_high", gettext_lazy("high (published)")),
    )


HOW_TWO_WAY = gettext_lazy(
    "Intervals at 95 %: Wilson on the effective number of verdicts from the two-way variance (persons and "
    "dialogues are samples), t with the smaller number of clusters less one."
)

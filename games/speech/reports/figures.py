"""Rows of the game's tables: an estimate as cells, with the reason where it has no value."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.speech.reports.judged import Judged, Mask
from studies.models import Language
from studies.reports import Heading
from turingsite import stats
from turingsite.stats.arrays import clusters

FEWEST = 2  # persons and dialogues: with one of either nothing is known of how they differ
FEWEST_VERDICTS = 5

COUNTS = (
    Heading("n", gettext_lazy("verdicts"), "count"),
    Heading("persons", gettext_lazy("persons"), "count"),
    Heading("dialogues", gettext_lazy("dialogues"), "count"),
)
NOTE = Heading("note", gettext_lazy("note"), "text")
LANGUAGE = Heading(
    "language", gettext_lazy("language"), "text", {"all": gettext_lazy("pooled"), **dict(Language.choices)}
)
KIND = Heading(
    "kind", gettext_lazy("kind"), "text", {"all": gettext_lazy("all"), "balanced": gettext_lazy("balanced")}
)


def enough(estimate: stats.Estimate, fewest: int | None = None) -> bool:
    """Whether a figure may be shown: only with its interval, on five verdicts by two persons on two dialogues
    at least. ``fewest``: verdicts in the smaller group, where groups are compared."""
    return (
        estimate.value is not None
        and (estimate.n if fewest is None else fewest) >= FEWEST_VERDICTS
        and estimate.low is not None
        and (estimate.participants is None or estimate.participants >= FEWEST)
        and (estimate.items is None or estimate.items >= FEWEST)
    )


def not_enough(n: int) -> str:
    return _("n = %(n)s, not enough") % {"n": n}


def cells(estimate: stats.Estimate, name: str, prefix: str = "", fewest: int | None = None) -> dict[str, Any]:
    """``name`` with its standard error, interval and df; ``None`` and a note where there is not enough."""
    good = enough(estimate, fewest)
    return {
        f"{prefix}{name}": estimate.value if good else None,
        f"{prefix}se": estimate.se if good else None,
        f"{prefix}low": estimate.low if good else None,
        f"{prefix}high": estimate.high if good else None,
        f"{prefix}df": estimate.df if good else None,
        f"{prefix}note": "" if good else not_enough(estimate.n if fewest is None else fewest),
    }


def counts(judged: Judged, mask: Mask) -> dict[str, int]:
    return {
        "n": int(mask.sum()),
        "persons": clusters(judged.person[mask]),
        "dialogues": clusters(judged.dialogue[mask]),
    }


def share(judged: Judged, mask: Mask, of: str, *, level: float = 0.95) -> stats.Estimate:
    """Share of ones in the array ``of`` ("human": judged human, "correct") with the two-way interval."""
    return stats.proportion(
        getattr(judged, of)[mask], judged.person[mask], judged.dialogue[mask], level=level
    )


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


def interval_headings(name: str, label: Any) -> tuple[Heading, ...]:
    return (
        Heading(name, label),
        Heading("se", gettext_lazy("SE")),
        Heading("low", gettext_lazy("low")),
        Heading("high", gettext_lazy("high")),
        Heading("df", gettext_lazy("df"), "count"),
    )


HOW_TWO_WAY = gettext_lazy(
    "Intervals at 95 %: Wilson on the effective number of verdicts from the two-way variance (persons and "
    "dialogues are samples), t with the smaller number of clusters less one."
)

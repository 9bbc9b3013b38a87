"""Rows of the game's tables: an estimate as cells, with the reason where it has no value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.speech.reports.judged import Judged, Mask
from studies.models import Language
from studies.reports import Heading
from turingsite import stats
from turingsite.stats.arrays import clusters

FEWEST = 2  # persons and dialogues: with one of either nothing is known of how they differ
FEWEST_DF = 2  # of an interval ± t√V: three persons and dialogues, in each group that is compared
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
    """Whether a figure may be shown: where nothing is ``lacking``."""
    return not lacking(estimate, fewest)


def lacking(estimate: stats.Estimate, fewest: int | None = None, alike: str = "") -> str:
    """Why a figure may not be shown, empty where it may: only with its interval, on five verdicts by two
    persons on two dialogues at least; three of each where neither 0 nor 1 holds the interval.

    ``fewest``: verdicts in the smaller group, where groups are compared. ``alike``: what to say where all
    verdicts are alike in what is compared.
    """
    n = estimate.n if fewest is None else fewest
    if alike and estimate.n >= FEWEST_VERDICTS and estimate.value is None:
        return alike
    if n < FEWEST_VERDICTS or estimate.value is None:
        return not_enough(n)
    if estimate.participants is not None and estimate.participants < FEWEST:
        return _("one person")
    if estimate.items is not None and estimate.items < FEWEST:
        return _("one dialogue")
    # ± t√V with one degree of freedom (t = 12.7) says nothing; a share's interval stays between 0 and 1.
    free = estimate.df is None or estimate.df >= FEWEST_DF or estimate.n_eff is not None
    if estimate.lack == "one_cluster" or not free:
        return too_few(FEWEST_DF + 1)
    return "" if estimate.low is not None else _("no spread")


def not_enough(n: int) -> str:
    return _("n = %(n)s, not enough") % {"n": n}


def too_few(n: int) -> str:
    return _("fewer than %(n)s dialogues or persons") % {"n": n}


def possible(estimate: stats.Estimate) -> stats.Estimate:
    """A difference of two shares, or a change of one, with its interval cut where none can lie: at −1 and 1.

    Value, standard error and df stay, and with them every test. An interval cut so covers as often.
    """
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(-1.0, estimate.low), high=min(1.0, estimate.high))


def cells(
    estimate: stats.Estimate, name: str, prefix: str = "", fewest: int | None = None, alike: str = ""
) -> dict[str, Any]:
    """``name`` with its standard error, interval and df; ``None`` and a note where something is lacking."""
    note = lacking(estimate, fewest, alike)
    good = not note
    return {
        f"{prefix}{name}": estimate.value if good else None,
        f"{prefix}se": estimate.se if good else None,
        f"{prefix}low": estimate.low if good else None,
        f"{prefix}high": estimate.high if good else None,
        f"{prefix}df": estimate.df if good else None,
        f"{prefix}note": note,
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

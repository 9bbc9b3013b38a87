"""Estimates as cells of a report's table, with the reason where there is no value; families of p values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.reports import Heading
from turingsite import stats

FEWEST = 2  # persons and dialogues: with one of either nothing is known of how they differ
FEWEST_DF = 2  # of an interval ± t√V: three persons and dialogues, in each group that is compared
FEWEST_OPINIONS = 5  # verdicts, or scores

NOTE = Heading("note", gettext_lazy("note"), "text")


def enough(estimate: stats.Estimate, fewest: int | None = None) -> bool:
    """Whether a figure may be shown: where nothing is ``lacking``."""
    return not lacking(estimate, fewest)


def lacking(estimate: stats.Estimate, fewest: int | None = None, alike: str = "") -> str:
    """Why a figure may not be shown, empty where it may: only with its interval, on five opinions by two
    persons on two dialogues at least; three of each where neither 0 nor 1 holds the interval.

    ``fewest``: opinions in the smaller group, where groups are compared. ``alike``: what to say where all
    are alike in what is compared.
    """
    n = estimate.n if fewest is None else fewest
    if alike and estimate.n >= FEWEST_OPINIONS and estimate.value is None:
        return alike
    if n < FEWEST_OPINIONS or estimate.value is None:
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


def interval_headings(name: str, label: Any) -> tuple[Heading, ...]:
    return (
        Heading(name, label),
        Heading("se", gettext_lazy("SE")),
        Heading("low", gettext_lazy("low")),
        Heading("high", gettext_lazy("high")),
        Heading("df", gettext_lazy("df"), "count"),
    )


def adjust(rows: list[dict[str, Any]], family: str) -> None:
    """Put Holm's p and the family's name into the rows of one family; rows without ``p`` keep to none."""
    adjusted = stats.holm({place: row["p"] for place, row in enumerate(rows)})
    for place, row in enumerate(rows):
        row["p_holm"] = adjusted[place]
        row["family"] = family

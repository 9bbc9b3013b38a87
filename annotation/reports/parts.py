"""What the annotation's reports share: headings, families of p values, the words of notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.reports.given import Floats, Given, Labels
from annotation.reports.levels import Mask
from studies.estimates import FEWEST_OPINIONS, not_enough
from studies.reports import Heading
from turingsite import stats

#: In place of a dimension's key: all of them together.
OVERALL = "overall"
#: From so many dialogues on alpha's intervals hold the truth as often as they say.
ENOUGH_DIALOGUES = 30

#: By report, then by table, which is also what a row says under ``family``.
FAMILIES: dict[str, dict[str, Any]] = {
    "revision-impact": {"pull": gettext_lazy("Truth pull of all dimensions against .5")},
    "dimension-profile": {"gap": gettext_lazy("All dimensions, machines against people")},
}
FAMILY_HEADINGS = (
    Heading("p_holm", gettext_lazy("p (Holm)"), "p"),
    Heading(
        "family",
        gettext_lazy("family"),
        "text",
        {table: words for tables in FAMILIES.values() for table, words in tables.items()},
    ),
)
COUNTS = (
    Heading("n", gettext_lazy("scores"), "count"),
    Heading("raters", gettext_lazy("raters"), "count"),
    Heading("dialogues", gettext_lazy("dialogues"), "count"),
)
HOW_TWO_WAY = gettext_lazy(
    "Intervals at 95 %: raters and dialogues are both samples (two-way variance), t with the smaller number "
    "of them less one. The row of all dimensions takes the mean of a rater's scores of a dialogue first."
)


def dimension_heading(data: Given) -> tuple[Heading, Heading]:
    """The dimension, which names the row, and its category."""
    overall = {OVERALL: _("all dimensions")}
    return (
        Heading("dimension", gettext_lazy("dimension"), "text", {**overall, **data.names}),
        Heading(
            "category",
            gettext_lazy("category"),
            "text",
            {one.category: one.category_name for one in data.dimensions},
        ),
    )


def columns_of(data: Given) -> list[tuple[str, str, int | None]]:
    """Dimension, category and place of every row of a table by dimension; the first one is all of them."""
    own = [(one.key, one.category, at) for at, one in enumerate(data.dimensions)]
    return [(OVERALL, "", None), *own]


def averaged(scores: Floats) -> Floats:
    """The mean of each row's scores; NaN where there is none."""
    known = ~np.isnan(scores)
    count = known.sum(axis=1)
    total = np.where(known, scores, 0.0).sum(axis=1)
    mean: Floats = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return mean


def pooled(scores: Floats, labels: Labels) -> stats.Estimate:
    """The mean of all scores (rows × dimensions, NaN: none) with the two-way interval.

    A row's scores go together: its influence value is Σ(x − mean)/N over them.
    """
    known = ~np.isnan(scores)
    count = known.sum(axis=1)
    rows = count > 0
    n = int(count.sum())
    if not n:
        return stats.Estimate(None, 0, lack="no_data")
    total = np.where(known, scores, 0.0).sum(axis=1)
    centre = float(total.sum()) / n
    u = (total - centre * count)[rows] / n
    return replace(stats.from_influence(centre, u, labels.rater[rows], labels.dialogue[rows]), n=n)


def share_of(ones: Floats, labels: Labels, at: int | None) -> stats.Estimate:
    """The share of ones among the scores of a dimension, of all of them for ``None``; NaN: no score."""
    if at is None:
        found = pooled(ones, labels)
        if found.low is None or found.high is None:
            return found
        return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))
    known = ~np.isnan(ones[:, at])
    return stats.proportion(ones[known, at], labels.rater[known], labels.dialogue[known])


def column_of(scores: Floats, at: int | None) -> Floats:
    """Scores of one dimension by row; of all of them (``None``) the rows' means."""
    return averaged(scores) if at is None else scores[:, at]


def counts(labels: Labels, known: Any, n: int | None = None) -> dict[str, int]:
    """What a figure rests on: scores, raters, dialogues of the rows of a mask."""
    return {
        "n": int(known.sum()) if n is None else n,
        "raters": np.unique(labels.rater[known]).size,
        "dialogues": np.unique(labels.dialogue[known]).size,
    }


def plain(estimate: stats.Estimate, name: str, prefix: str = "") -> dict[str, Any]:
    """A value with its bounds, empty together where there is no value."""
    return {
        f"{prefix}{name}": estimate.value,
        f"{prefix}low": estimate.low,
        f"{prefix}high": estimate.high,
    }


def why_not(n: int, changed: int) -> str:
    """Why nothing is said of changed scores; empty where there are enough of them."""
    if n < FEWEST_OPINIONS:
        return not_enough(n)
    return "" if changed >= FEWEST_OPINIONS else not_enough(changed) if changed else _("none changed")


def few_dialogues(rows: list[Mapping[str, Any]], column: str = "dialogues") -> bool:
    """Whether any figure rests on fewer dialogues than alpha's interval wants."""
    return any(0 < int(row.get(column) or 0) < ENOUGH_DIALOGUES for row in rows)


def pairable(labels: Labels, known: Mask) -> Mask:
    """Where a score is known (rows × dimensions) that has another one of the same dialogue beside it."""
    per_dialogue = np.zeros((int(labels.dialogue.max(initial=-1)) + 1, known.shape[1]), dtype=np.intp)
    np.add.at(per_dialogue, labels.dialogue, known)
    found: Mask = known & (per_dialogue[labels.dialogue] >= 2)
    return found


def too_narrow(dialogues: int) -> str:
    """What a row says of an interval of alpha on few dialogues; empty where they are enough."""
    return _("interval too narrow: few dialogues") if dialogues < ENOUGH_DIALOGUES else ""

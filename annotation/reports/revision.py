"""Revision impact: what review with the truth in sight changed in raters' scores, and in which direction."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from annotation.models import Layer
from annotation.reports.given import Floats, Given, Labels, given
from annotation.reports.levels import Mask
from annotation.reports.parts import (
    COUNTS,
    FAMILY_HEADINGS,
    OVERALL,
    columns_of,
    counts,
    dimension_heading,
    pooled,
    share_of,
    why_not,
)
from studies.estimates import FEWEST_OPINIONS, NOTE, adjust, enough
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

#: Share changed, RMSE, ratio in Li et al. (arXiv 2602.24080), for orientation.
PUBLISHED: dict[str, tuple[float, float, float]] = {
    OVERALL: (0.2944, 1.9903, 0.4976),
    "pronunciation-accuracy": (0.3596, 2.1085, 0.5271),
    "textual-sentiment": (0.3472, 1.9579, 0.4895),
    "linguistic-imprecision": (0.3273, 2.1230, 0.5308),
}
SOURCES = {"study": gettext_lazy("this study"), "published": pgettext_lazy("figures", "published")}


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Share changed, RMSE of the changed ones, ratio to the scale's range; the pull towards the truth."""
    data = given(tables, options)
    pairs = _paired(data)
    return ReportResult(
        key="revision-impact",
        title=_("Revision impact"),
        study=study,
        analysis_set="",
        language=options.language,
        basis=data.basis,
        tables=(_impact(data, pairs), _pull(data, pairs), _evidence(data, pairs)),
        notes=(
            _(
                "Rows marked “published” are from Li et al. (arXiv 2602.24080), for orientation: other "
                "dialogues, other raters."
            ),
            _(
                "Reviewers see what speaker B is. A pull above .5 says that they move scores towards it, "
                "right or not: train and compare with the layer that you mean."
            ),
        ),
        layer=options.layer,
    )


class _Pairs:
    """Rows that both layers have: scores before and after review, whether speaker B is human."""

    def __init__(self, before: Labels, after: Labels, is_human: Mask, known: Mask) -> None:
        self.labels, self.after = before, after
        self.is_human, self.known = is_human[before.dialogue], known[before.dialogue]

    @property
    def moves(self) -> Floats:
        """Steps by which a score was changed, "no evidence" as 3; NaN where it was not reviewed."""
        return self.after.published - self.labels.published

    @property
    def towards(self) -> Floats:
        """The same moves, above 0 towards the truth's pole; NaN where the truth is not known."""
        sign = np.where(self.is_human, 1.0, -1.0)
        return np.where(self.known, sign, np.nan)[:, None] * self.moves


def _paired(data: Given) -> _Pairs:
    width = len(data.raters)
    empty = np.zeros((0, len(data.dimensions)))
    nothing = Labels(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), empty, empty)
    raw, shown = data.layers.get(Layer.RAW.value, nothing), data.labels
    _both, first, second = np.intersect1d(
        raw.dialogue * width + raw.rater,
        shown.dialogue * width + shown.rater,
        assume_unique=True,
        return_indices=True,
    )
    return _Pairs(_at(raw, first), _at(shown, second), data.is_human, data.is_human | data.is_machine)


def _at(labels: Labels, places: Any) -> Labels:
    return Labels(
        labels.rater[places], labels.dialogue[places], labels.published[places], labels.evidence[places]
    )


def _impact(data: Given, pairs: _Pairs) -> ReportTable:
    """How many scores were changed and how far; published figures below one's own."""
    rows: list[dict[str, Any]] = []
    moves = pairs.moves
    changed = np.where(np.isnan(moves), np.nan, moves != 0)
    for key, category, at in columns_of(data):
        own = slice(None) if at is None else slice(at, at + 1)
        found = stats.revision_impact(pairs.labels.published[:, own], pairs.after.published[:, own])
        share = share_of(changed, pairs.labels, at)
        good = enough(share)
        row = {
            "dimension": key,
            "category": category,
            "source": "study",
            **counts(pairs.labels, ~np.isnan(moves[:, own]).all(axis=1), found.n),
            "changed": found.changed,
            "share": found.share if found.n >= FEWEST_OPINIONS else None,
            "low": share.low if good else None,
            "high": share.high if good else None,
            **_size(found),
        }
        rows.append(row)
        if key in PUBLISHED and data.names.keys() >= PUBLISHED.keys() - {OVERALL}:
            values = dict(zip(("share", "rmse", "ratio"), PUBLISHED[key], strict=True))
            rows.append({"dimension": key, "category": category, "source": "published", **values})
    return ReportTable(
        "impact",
        gettext_lazy("What review changed"),
        (
            *dimension_heading(data),
            Heading("source", gettext_lazy("source"), "text", SOURCES),
            *COUNTS,
            Heading("changed", gettext_lazy("changed"), "count"),
            Heading("share", gettext_lazy("share changed")),
            Heading("low", gettext_lazy("low")),
            Heading("high", gettext_lazy("high")),
            Heading("rmse", gettext_lazy("RMSE of the changed")),
            Heading("ratio", gettext_lazy("RMSE / 4")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Every raw score that was reviewed, against what it became; “no evidence” counts as 3, as "
            "published. RMSE: root of the mean squared move of the changed ones, in steps of the scale; "
            "divided by its range, 4. Intervals of the share at 95 %: raters and dialogues are both samples."
        ),
    )


def _size(found: stats.RevisionImpact) -> dict[str, Any]:
    """RMSE and ratio of at least five changed scores, or why there are none."""
    note = why_not(found.n, found.changed)
    return {
        "rmse": None if note else found.rmse,
        "ratio": None if note else found.ratio,
        "note": note,
    }


def _pull(data: Given, pairs: _Pairs) -> ReportTable:
    """Whether changed scores moved towards what speaker B is."""
    rows: list[dict[str, Any]] = []
    labels, towards = pairs.labels, pairs.towards
    moves = np.where(np.nan_to_num(towards) != 0, towards, np.nan)
    for key, category, at in columns_of(data):
        own = slice(None) if at is None else slice(at, at + 1)
        pull = share_of(np.where(np.isnan(moves), np.nan, moves > 0), labels, at)
        move = pooled(moves[:, own], labels)
        good, steady = enough(pull), enough(move)
        rows.append(
            {
                "dimension": key,
                "category": category,
                **counts(labels, ~np.isnan(moves[:, own]).all(axis=1), pull.n),
                "pull": pull.value if pull.n >= FEWEST_OPINIONS else None,
                "low": pull.low if good else None,
                "high": pull.high if good else None,
                "p": stats.proportion_test(pull).p if good and at is not None else None,
                "move": move.value if move.n >= FEWEST_OPINIONS else None,
                "move_low": move.low if steady else None,
                "move_high": move.high if steady else None,
                "note": why_not(FEWEST_OPINIONS, pull.n),
            }
        )
    adjust(rows[1:], "pull")
    return ReportTable(
        "pull",
        gettext_lazy("Truth pull: do changed scores move towards what speaker B is"),
        (
            *dimension_heading(data),
            Heading("n", gettext_lazy("changed scores"), "count"),
            *COUNTS[1:],
            Heading("pull", gettext_lazy("towards the truth (share)")),
            Heading("low", gettext_lazy("low")),
            Heading("high", gettext_lazy("high")),
            Heading("p", gettext_lazy("p against .5"), "p"),
            *FAMILY_HEADINGS,
            Heading("move", gettext_lazy("mean move towards it")),
            Heading("move_low", gettext_lazy("low, move")),
            Heading("move_high", gettext_lazy("high, move")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "The truth's pole is 5 where speaker B is human and 1 where it is a machine, a pseudo-human "
            "included. Intervals at 95 %: raters and dialogues are both samples; the changed scores that a "
            "rater gave a dialogue go together. p is adjusted by Holm over the dimensions."
        ),
    )


def _evidence(data: Given, pairs: _Pairs) -> ReportTable:
    """The same where both have evidence, and how often evidence itself was found or taken back."""
    rows: list[dict[str, Any]] = []
    none, none_after = pairs.labels.none, pairs.after.none
    for key, category, at in columns_of(data):
        own = slice(None) if at is None else slice(at, at + 1)
        found = stats.revision_impact(pairs.labels.evidence[:, own], pairs.after.evidence[:, own])
        before, after = none[:, own], none_after[:, own]
        both = ~(np.isnan(before) | np.isnan(after))
        rows.append(
            {
                "dimension": key,
                "category": category,
                "n": found.n,
                "changed": found.changed,
                "share": found.share if found.n >= FEWEST_OPINIONS else None,
                **_size(found),
                "reviewed": int(both.sum()),
                "found": int((before[both] > after[both]).sum()),
                "taken": int((before[both] < after[both]).sum()),
            }
        )
    return ReportTable(
        "evidence",
        gettext_lazy("The same on evidence alone"),
        (
            *dimension_heading(data),
            Heading("n", gettext_lazy("scores with evidence in both"), "count"),
            Heading("changed", gettext_lazy("changed"), "count"),
            Heading("share", gettext_lazy("share changed")),
            Heading("rmse", gettext_lazy("RMSE of the changed")),
            Heading("ratio", gettext_lazy("RMSE / 4")),
            Heading("reviewed", gettext_lazy("scores reviewed"), "count"),
            Heading("found", gettext_lazy("evidence found"), "count"),
            Heading("taken", gettext_lazy("evidence taken back"), "count"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Only scores that have evidence before and after. A score between “no evidence” and 3 is the "
            "same in the published coding; it is counted here as evidence found or taken back."
        ),
    )

"""Figures of the annotation's reports, from their tables alone: what stands in no table is in no figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from annotation.reports.parts import OVERALL
from annotation.reports.profile import HUMANS, STEPS
from studies.figures import (
    Axis,
    Figure,
    Mark,
    Panel,
    Sort,
    dots,
    figure,
    heat,
    intervals,
    listed,
    said,
    scoped,
    share_axis,
    stacks,
)
from studies.reports import ReportResult

Row = Mapping[str, Any]
TICKS = (-0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
SORTS: Mapping[str, Sort] = {HUMANS: "human"}


def agreement(result: ReportResult) -> list[Figure]:
    """Alpha in both codings, in the order of the dimensions."""
    beside = {row["dimension"]: row for row in listed(result, "beside")}

    def marks(row: Row) -> list[Mark]:
        other = beside.get(row["dimension"], {})
        label = said(result, "alpha", row, "dimension")
        return [
            _mark(row, label, "alpha", group=_("on evidence")),
            _mark(
                other, label, "published", sort="all_open", prefix="published_",
                group=_("no evidence as 3"), n=None,
            ),
        ]  # fmt: skip

    lowest = min((row["low"] for row in listed(result, "alpha") if row["low"] is not None), default=0.0)
    axis = Axis(
        _("Ordinal alpha, with intervals at 95 %; dashed: .667, from where conclusions are tentative"),
        low=min(0.0, max(-0.4, lowest)),
        high=1.0,
        line=0.667,
        ticks=TICKS,
    )
    return figure(result, "alpha", _by_category(result, "alpha", marks), axis, dots)


def revision_impact(result: ReportResult) -> list[Figure]:
    """The share changed beside the published one; the pull."""

    def changed(row: Row) -> list[Mark]:
        published = row["source"] == "published"
        return [
            _mark(
                row, said(result, "impact", row, "dimension"), "share",
                sort="all_open" if published else "all", group=said(result, "impact", row, "source"),
            )
        ]  # fmt: skip

    def pulled(row: Row) -> list[Mark]:
        return [_mark(row, said(result, "pull", row, "dimension"), "pull")]

    own = [row for row in listed(result, "impact") if row.get("source") == "study"]
    if not any(row.get("share") is not None for row in own):
        return []
    share = share_axis(_("Share of reviewed scores that were changed, with intervals at 95 %"), line=None)
    pull = share_axis(_("Share of changed scores that moved towards what speaker B is"))
    return [
        *figure(result, "impact", _by_category(result, "impact", changed), share, dots),
        *figure(result, "pull", _by_category(result, "pull", pulled), pull, intervals),
    ]


def dimension_profile(result: ReportResult) -> list[Figure]:
    return [
        *_distributions(result),
        *_means(result),
        *_gap(result),
        *_heat(result),
        *_relation(result),
    ]


def rater_quality(result: ReportResult) -> list[Figure]:
    """A figure for each table whose numbers read better side by side."""

    def single(table: str, key: str, n: str = "n") -> list[Panel]:
        marks = (_mark(row, str(row["rater"]), key, n=n) for row in listed(result, table))
        return [Panel("", tuple(marks))]

    halo = [
        mark
        for row in listed(result, "halo")
        for mark in (
            _mark(row, str(row["rater"]), "halo", group=_("this rater")),
            _mark(
                row, str(row["rater"]), "unrelated", sort="all_open", group=_("if nothing went together"),
                n=None,
            ),
        )
    ]  # fmt: skip
    beyond = Axis(_("Median s beyond the sound; dashed: the rule of 30 s"), low=0.0, line=30.0, decimals=0)
    others = Axis(
        _("Rank correlation with the other raters' mean; dashed: the rule of .2"),
        line=0.2, high=1.0, within=(-1.0, 1.0), decimals=2,
    )  # fmt: skip
    drift = Axis(_("Steps per 100 dialogues, with intervals at 95 %; above 0: hears more human"), line=0.0)
    kappa = Axis(
        _("Weighted kappa on hidden repeats; dashed: the rule of .4"), line=0.4, high=1.0, decimals=2
    )
    return [
        *figure(result, "work", single("work", "beyond", "timed"), beyond, intervals),
        *figure(result, "others", single("others", "correlation"), others, intervals),
        *figure(result, "drift", single("drift", "slope"), drift, intervals),
        *figure(result, "retest", single("retest", "kappa"), kappa, intervals),
        *figure(
            result, "halo", [Panel("", tuple(halo))], share_axis(_("Share of variance"), line=None), dots
        ),
    ]


def _mark(
    row: Row,
    label: str,
    key: str,
    *,
    sort: Sort = "all",
    group: str = "",
    prefix: str = "",
    n: str | None = "n",
) -> Mark:
    return Mark(
        label=label,
        value=row.get(key),
        low=row.get(f"{prefix}low"),
        high=row.get(f"{prefix}high"),
        n=row.get(n) if n else None,
        sort=sort,
        note=str(row.get("note") or "") if row.get(key) is None else "",
        group=group,
    )


def _by_category(
    result: ReportResult, table: str, marks: Callable[[Row], list[Mark]], rows: Sequence[Row] | None = None
) -> list[Panel]:
    """A panel for each category; all dimensions together stand first, without a heading."""
    rows = listed(result, table) if rows is None else rows
    return [
        Panel(words, tuple(mark for row in own for mark in marks(row)))
        for _category, words, own in scoped(result, table, rows, "category")
    ]


def _speaker(row: Row) -> Sort:
    return SORTS.get(str(row["speaker"]), "machine")


def _distributions(result: ReportResult) -> list[Figure]:
    def marks(row: Row) -> list[Mark]:
        parts = tuple(float(row[step]) for step in STEPS) if row.get("one") is not None else ()
        value = None if not parts else float(row["none"])
        return [
            Mark(
                said(result, "distribution", row, "dimension"), value, n=row["n"], sort=_speaker(row),
                note=str(row.get("note") or ""), group=said(result, "distribution", row, "speaker"),
                parts=parts,
            )
        ]  # fmt: skip

    words = (_("1 machine-like"), "2", "3", "4", _("5 human-like"), _("no evidence"))
    axis = share_axis(_("Share of all answers; n counts answers"), line=None)
    panels = _by_category(result, "distribution", marks)
    return figure(result, "distribution", panels, axis, partial(stacks, parts=words))


def _means(result: ReportResult) -> list[Figure]:
    def marks(row: Row) -> list[Mark]:
        label = said(result, "means", row, "dimension")
        return [_mark(row, label, "mean", sort=_speaker(row), group=said(result, "means", row, "speaker"))]

    axis = Axis(
        _("Mean of scores with evidence, 1 machine-like to 5 human-like, with intervals at 95 %"),
        low=1.0, high=5.0, line=3.0, ticks=(1.0, 2.0, 3.0, 4.0, 5.0), decimals=2,
    )  # fmt: skip
    return figure(result, "means", _by_category(result, "means", marks), axis, partial(dots, joined=True))


def _gap(result: ReportResult) -> list[Figure]:
    """Ranked: the widest gap first, all dimensions together last."""
    rows = listed(result, "gap")
    parts = [[row for row in rows if row["dimension"] != OVERALL], [*rows[-1:]]]

    def panels(key: str, prefix: str) -> list[Panel]:
        return [
            Panel(
                "",
                tuple(
                    _mark(row, said(result, "gap", row, "dimension"), key, prefix=prefix, sort="machine")
                    for row in own
                ),
            )
            for own in parts
        ]

    steps = Axis(
        _("Machines minus people, in steps, with intervals at 95 %; below 0: less human"),
        line=0.0, within=(-4.0, 4.0), decimals=2,
    )  # fmt: skip
    chance = share_axis(_("Chance that a machine's score is the higher one, with intervals at 95 %"))
    return [
        *figure(result, "gap", panels("difference", ""), steps, intervals),
        *figure(
            result, "gap", panels("ps_value", "ps_"), chance, intervals,
            key="superiority", title=_("Probability of superiority over people"),
        ),
    ]  # fmt: skip


def _heat(result: ReportResult) -> list[Figure]:
    rows = listed(result, "by_speaker")
    panels = [
        Panel(
            words,
            tuple(
                Mark(
                    said(result, "by_speaker", row, "dimension"), row.get("mean"), row.get("low"),
                    row.get("high"), note=str(row.get("note") or ""), group=str(row["name"]),
                )
                for row in own
            ),
        )
        for _by, words, own in scoped(result, "by_speaker", rows, "by")
    ]  # fmt: skip
    axis = Axis(
        _("Mean of scores with evidence; the stronger the colour, the more human-like. –: not enough"),
        low=1.0, high=5.0, decimals=1,
    )  # fmt: skip
    return figure(result, "by_speaker", panels, axis, heat)


def _relation(result: ReportResult) -> list[Figure]:
    def marks(row: Row) -> list[Mark]:
        return [_mark(row, said(result, "relation", row, "dimension"), "auc")]

    axis = share_axis(
        _("AUC: chance that a score given with “human” is the higher one, with intervals at 95 %")
    )
    return figure(result, "relation", _by_category(result, "relation", marks), axis, intervals)

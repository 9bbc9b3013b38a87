"""Dimension profile: how speaker B sounds on every dimension, machines against people, and by whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.reports import heat, relation
from annotation.reports.given import Given, given
from annotation.reports.levels import Mask
from annotation.reports.parts import (
    COUNTS,
    FAMILY_HEADINGS,
    HOW_TWO_WAY,
    averaged,
    column_of,
    columns_of,
    counts,
    dimension_heading,
    share_of,
)
from studies.estimates import FEWEST_OPINIONS, NOTE, adjust, cells, enough, interval_headings, not_enough
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

HUMANS, MACHINES = "human", "machines"
SPEAKERS = {HUMANS: gettext_lazy("human speakers"), MACHINES: gettext_lazy("all machines")}
SPEAKER = Heading("speaker", gettext_lazy("speaker B"), "text", SPEAKERS)
#: Shares of a distribution, in the order in which they are drawn.
STEPS = ("one", "two", "three", "four", "five", "none")


class Group(NamedTuple):
    """Rows of the labels in which speaker B is of one sort."""

    key: str
    mask: Mask


def groups_of(data: Given) -> list[Group]:
    """Human speakers and all machines."""
    dialogue = data.labels.dialogue
    return [Group(HUMANS, data.is_human[dialogue]), Group(MACHINES, data.is_machine[dialogue])]


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Distributions first, means second, the gap to people, systems and kinds, the relation to the choice."""
    data = given(tables, options)
    groups = groups_of(data)
    return ReportResult(
        key="dimension-profile",
        title=_("Dimension profile"),
        study=study,
        analysis_set="",
        language=options.language,
        basis=data.basis,
        tables=(
            _distributions(data, groups),
            _means(data, groups),
            _gap(data, groups),
            heat.table(tables, data),
            relation.table(tables, data, options),
        ),
        notes=(
            _("1: clearly machine-like, 5: clearly human-like, 3: no leaning."),
            _("Means and gaps take scores with evidence alone; “no evidence” has a share of its own."),
            _("p is adjusted by Holm within the family named beside it."),
        ),
        layer=options.layer,
    )


def _each(data: Given, groups: list[Group]) -> Iterator[tuple[dict[str, str], Group, int | None]]:
    for key, category, at in columns_of(data):
        for group in groups:
            yield {"dimension": key, "category": category, "speaker": group.key}, group, at


def _distributions(data: Given, groups: list[Group]) -> ReportTable:
    rows: list[dict[str, Any]] = []
    for head, group, at in _each(data, groups):
        labels = data.labels.where(group.mask)
        own = slice(None) if at is None else slice(at, at + 1)
        answers = labels.none[:, own]
        n = int((~np.isnan(answers)).sum())
        heard = labels.evidence[:, own]
        parts = [float((heard == step).sum()) for step in range(1, 6)] + [float(np.nansum(answers))]
        none = share_of(labels.none, labels, at)
        good = n >= FEWEST_OPINIONS
        rows.append(
            {
                **head,
                **counts(labels, (~np.isnan(answers)).any(axis=1), n),
                **{step: part / n if good else None for step, part in zip(STEPS, parts, strict=True)},
                "none_low": none.low if enough(none) else None,
                "none_high": none.high if enough(none) else None,
                "note": "" if good else not_enough(n),
            }
        )
    return ReportTable(
        "distribution",
        gettext_lazy("How the scores are spread"),
        (
            *dimension_heading(data),
            SPEAKER,
            Heading("n", gettext_lazy("answers"), "count"),
            *COUNTS[1:],
            *(Heading(step, str(value)) for value, step in enumerate(STEPS[:5], 1)),
            Heading("none", gettext_lazy("no evidence")),
            Heading("none_low", gettext_lazy("low, no evidence")),
            Heading("none_high", gettext_lazy("high, no evidence")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Share of each score among all answers, “no evidence” among them. Interval of its share at 95 %: "
            "raters and dialogues are both samples."
        ),
    )


def _means(data: Given, groups: list[Group]) -> ReportTable:
    rows: list[dict[str, Any]] = []
    for head, group, at in _each(data, groups):
        labels = data.labels.where(group.mask)
        scores = column_of(labels.evidence, at)
        known = ~np.isnan(scores)
        estimate = stats.mean(scores[known], labels.rater[known], labels.dialogue[known])
        rows.append({**head, **counts(labels, known), **cells(_on_scale(estimate), "mean")})
    return ReportTable(
        "means",
        gettext_lazy("Mean scores, people and machines"),
        (
            *dimension_heading(data),
            SPEAKER,
            *COUNTS,
            *interval_headings("mean", gettext_lazy("mean")),
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


def _on_scale(estimate: stats.Estimate) -> stats.Estimate:
    return heat.within(estimate, 1.0, 5.0)


def _gap(data: Given, groups: list[Group]) -> ReportTable:
    """Machines minus people: of means, and how often a machine's score is the higher one."""
    people, machines = (group.mask for group in groups)
    labels = data.labels
    rows: list[dict[str, Any]] = []
    for key, category, at in columns_of(data):
        scores = averaged(labels.evidence) if at is None else labels.evidence[:, at]
        known = ~np.isnan(scores) & (people | machines)
        who = labels.rater[known], labels.dialogue[known]
        n = int((known & machines).sum())
        human_n = int((known & people).sum())
        fewest = min(n, human_n)
        found = stats.difference(scores[known], machines[known], *who)
        above = stats.superiority(scores[known], machines[known], *who)
        good = enough(found, fewest)
        rows.append(
            {
                "dimension": key,
                "category": category,
                "n": n,
                "human_n": human_n,
                **cells(heat.within(found, -4.0, 4.0), "difference", fewest=fewest),
                "p": stats.difference_test(found).p if good and at is not None else None,
                **cells(above, "value", "ps_", fewest),
            }
        )
    adjust(rows[1:], "gap")
    ranked = sorted(rows[1:], key=lambda row: (row["difference"] is None, row["difference"] or 0.0))
    for rank, row in enumerate(ranked, 1):
        row["rank"] = rank if row["difference"] is not None else None
    return ReportTable(
        "gap",
        gettext_lazy("Gap to people, the widest first"),
        (
            *dimension_heading(data),
            Heading("rank", gettext_lazy("rank"), "count"),
            Heading("n", gettext_lazy("scores of machines"), "count"),
            Heading("human_n", gettext_lazy("scores of people"), "count"),
            *interval_headings("difference", gettext_lazy("machines minus people")),
            Heading("p", "p", "p"),
            *FAMILY_HEADINGS,
            Heading("ps_value", gettext_lazy("probability of superiority")),
            Heading("ps_low", gettext_lazy("low, superiority")),
            Heading("ps_high", gettext_lazy("high, superiority")),
            NOTE,
        ),
        (*ranked, *rows[:1]),
        gettext_lazy(
            "Below 0: machines sound less human. Probability of superiority: chance that a machine's score "
            "is higher than a human speaker's, ties half; below .5 they sound less human. Intervals at 95 %: "
            "raters and dialogues are both samples. p is adjusted by Holm over the dimensions."
        ),
    )

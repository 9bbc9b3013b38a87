"""Figures of the game's reports, from their tables alone: what stands in no table is in no figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from games.speech.reports.lengths import LONGEST, SHORTEST, STEP
from games.speech.reports.marks import KINDS, by_speaker, in_order, mark_of, rounds, split
from games.speech.reports.speakers import HUMANS, MACHINES
from studies.figures import (
    Along,
    Axis,
    Figure,
    Mark,
    Panel,
    Sort,
    bars,
    courses,
    figure,
    intervals,
    listed,
    said,
    scatter,
    scoped,
    share_axis,
)
from studies.reports import ReportResult

Row = Mapping[str, Any]

#: d′ and c: an interval from few dialogues runs far beyond, and is drawn to the end of the axis.
USUAL = (-2.0, 4.0)
COURSE = 2  # values: one alone goes nowhere
OF_GROUPS: Mapping[str, Sort] = {HUMANS: "human", MACHINES: "machine"}


def success_rate(result: ReportResult) -> list[Figure]:
    judged_human = share_axis(
        _("Share of verdicts that said “human”, with intervals at 95 %; n counts verdicts")
    )
    return [
        *figure(result, "success", by_speaker(result, "success", "share"), judged_human, intervals),
        *_difference(result),
        *discrimination(result),
        *_by_strategy(result, judged_human),
        *_benchmark(result),
        *_by_round(result, "share", judged_human),
    ]


def accuracy(result: ReportResult) -> list[Figure]:
    right = share_axis(_("Share of right verdicts, with intervals at 95 %; n counts verdicts"))
    by_kind = [
        Panel(words, tuple(mark_of(row, said(result, "by_kind", row, "kind"), "accuracy") for row in rows))
        for _scope, words, rows in scoped(result, "by_kind", listed(result, "by_kind"))
    ]
    groups = [
        Panel(words, tuple(mark_of(row, said(result, "groups", row, "group"), "accuracy") for row in rows))
        for _factor, words, rows in scoped(result, "groups", listed(result, "groups"), "factor")
    ]
    return [
        *figure(result, "by_kind", by_kind, right, intervals),
        *figure(result, "groups", groups, right, intervals),
        *_by_length(result),
        *_by_round(result, "accuracy", right),
    ]


def duration_trend(result: ReportResult) -> list[Figure]:
    slope = Axis(
        _("Change of the share of right verdicts from one bin of 5 s to the next, with intervals at 95 %"),
        line=0.0,
        decimals=3,
    )
    of_human = Axis(
        _("Change of the share of “human” from one bin of 5 s to the next, with intervals at 95 %"),
        line=0.0,
        decimals=3,
    )
    by_kind = [
        Panel(words, tuple(mark_of(row, said(result, "trend", row, "kind"), "slope") for row in rows))
        for _scope, words, rows in scoped(result, "trend", listed(result, "trend"))
    ]
    speakers = by_speaker(result, "by_speaker", "slope")
    return [
        *figure(result, "trend", by_kind, slope, intervals),
        *_by_length(result),
        *figure(result, "by_speaker", speakers, of_human, intervals),
    ]


def discrimination(result: ReportResult) -> list[Figure]:
    axis = Axis(
        _("d′ against human speakers, with intervals at 95 %; 0: not told apart"), line=0.0, within=USUAL
    )
    return figure(result, "discrimination", by_speaker(result, "discrimination", "dprime"), axis, intervals)


def by_round(result: ReportResult) -> list[Figure]:
    right = share_axis(_("right"))
    rows = [row for row in listed(result, "by_round") if row.get("kind") in KINDS]
    panels = [
        Panel(f"{kind}, {words}", in_order(own, "round", "accuracy"))
        for _scope, words, of_scope in scoped(result, "by_round", rows)
        for kind, own in split(of_scope, "kind")
    ]
    told = [
        panel
        for _scope, words, own in scoped(result, "told_apart", listed(result, "told_apart"))
        for panel in (
            Panel(f"d′, {words}", in_order(own, "round", "dprime"), Axis("d′", line=0.0, within=USUAL)),
            Panel(f"c, {words}", in_order(own, "round", "c_value", "c_"), Axis("c", line=0.0, within=USUAL)),
        )
    ]
    return [
        *figure(
            result,
            "by_round",
            panels,
            right,
            partial(courses, along=rounds(rows, "round"), columns=4),
            fewest=COURSE,
        ),
        *figure(
            result,
            "told_apart",
            told,
            Axis("d′"),
            partial(courses, along=rounds(listed(result, "told_apart"), "round"), columns=2),
            fewest=COURSE,
        ),
    ]


def leaks(result: ReportResult) -> list[Figure]:
    axis = share_axis(
        _("Share of dialogues with a leak, with intervals at 95 %; n counts dialogues with a transcript"),
        line=None,
    )
    pooled = [row for row in listed(result, "rate") if row.get("strategy") == "all"]
    panels = by_speaker(result, "rate", "rate", rows=pooled, n="searched")
    return figure(result, "rate", panels, axis, intervals)


def funnel(result: ReportResult) -> list[Figure]:
    steps = tuple(
        Mark(
            said(result, "steps", row, "step"),
            row.get("people"),
            note="" if row.get("share") is None else f"{100 * row['share']:.0f} %",
        )
        for row in listed(result, "steps")
    )
    if not any(mark.value for mark in steps):
        return []
    axis = Axis(_("people"), low=0.0, decimals=0)
    return figure(result, "steps", [Panel("", steps)], axis, bars)


def _difference(result: ReportResult) -> list[Figure]:
    """95 % thin, 90 % thick: equivalent where the thick one lies within the band."""
    margins = (row.get("margin") for row in listed(result, "difference"))
    margin = next((float(one) for one in margins if one is not None), 0.0)
    axis = Axis(
        _("Above 0: humans are judged human more often. 95 % thin, 90 % thick, the margin shaded"),
        low=-1.0,
        high=1.0,
        line=0.0,
        band=(-margin, margin),
    )
    return figure(result, "difference", by_speaker(result, "difference", "difference"), axis, intervals)


def _benchmark(result: ReportResult) -> list[Figure]:
    """Success rate over an outside score. The table may be missing."""
    scopes = scoped(result, "benchmark", listed(result, "benchmark"), "benchmark")
    panels = [
        Panel(
            words,
            tuple(
                mark_of(row, str(row.get("name") or ""), "share", sort="machine", at=row["score"])
                for row in own
                if row.get("score") is not None
            ),
        )
        for _name, words, own in scopes
    ]
    return figure(
        result,
        "benchmark",
        panels,
        share_axis(_("judged human")),
        partial(scatter, along=_("Score in the outside benchmark")),
    )


def _by_strategy(result: ReportResult, axis: Axis) -> list[Figure]:
    panels = [
        Panel(
            words,
            tuple(
                mark_of(row, said(result, "strategies", row, "strategy"), "share", sort="machine")
                for row in rows
            ),
        )
        for _scope, words, rows in scoped(result, "strategies", listed(result, "strategies"))
    ]
    return figure(result, "strategies", panels, axis, intervals)


def _by_round(result: ReportResult, key: str, axis: Axis) -> list[Figure]:
    """A share of the breakdown along the rounds, a panel for each group of verdicts."""
    rows = [row for row in listed(result, "breakdown") if row["factor"] == "round"]
    panels = [
        Panel(
            "" if group == "all" else words,
            in_order(own, "level", key, sort=OF_GROUPS.get(group, "all")),
        )
        for group, words, own in scoped(result, "breakdown", rows, "group")
    ]
    title = _("Right verdicts by round") if key == "accuracy" else _("Share judged human, by round")
    draw = partial(courses, along=rounds(rows, "level"), columns=2)
    plain = replace(axis, title="")
    return figure(result, "breakdown", panels, plain, draw, key="by_round", title=title, fewest=COURSE)


def _by_length(result: ReportResult) -> list[Figure]:
    """Kinds side by side, never as one: they differ in length. Clips outside the bins are in the table."""
    rows = [row for row in listed(result, "by_length") if row.get("from_s") is not None]
    panels = [
        Panel(
            f"{kind}, {words}" if words else kind,
            tuple(
                mark_of(row, str(row["length"]), "accuracy", at=(row["from_s"] + row["below_s"]) / 2)
                for row in own
            ),
        )
        for _scope, words, of_scope in scoped(result, "by_length", rows)
        for kind, own in split(of_scope, "kind")
        if kind != "all"
    ]
    along = Along(
        _("length (s)"),
        (SHORTEST, LONGEST),
        tuple((float(edge), str(edge)) for edge in range(SHORTEST, LONGEST + 1, 2 * STEP)),
    )
    draw = partial(courses, along=along, columns=3)
    return figure(result, "by_length", panels, share_axis(""), draw, fewest=COURSE)

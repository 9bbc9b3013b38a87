"""Figures of the game's reports, from their tables alone: what stands in no table is in no figure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.group.reports.given import ALL, ELIMINATION, OWN, SILENT
from games.group.reports.parts import AGENT, PEOPLE
from studies.figures import (
    Along,
    Axis,
    Figure,
    Mark,
    Panel,
    Sort,
    courses,
    dots,
    figure,
    intervals,
    listed,
    said,
    scoped,
    share_axis,
    stacks,
)
from studies.reports import ReportResult

Row = Mapping[str, Any]
SORTS: Mapping[str, Sort] = {PEOPLE: "human", AGENT: "machine", ALL: "all"}
LEVELS: Mapping[str, Sort] = {OWN: "all", ELIMINATION: "all_open", SILENT: "warning"}
COURSE = 2  # values: one alone goes nowhere


def survival(result: ReportResult) -> list[Figure]:
    """Share beside its chance levels, the difference, elimination along the rounds."""
    share = share_axis(_("Share of games, with intervals at 95 %; n counts games"), line=None)
    difference = Axis(
        _("Survived minus chance, with intervals at 95 %; above 0: more often than by chance"),
        low=-1.0, high=1.0, line=0.0,
    )  # fmt: skip
    rows = listed(result, "against_chance")
    levels = [
        _mark(
            row, _where(result, "against_chance", row), "chance", n="", sort=LEVELS[str(row["baseline"])],
            group=said(result, "against_chance", row, "baseline"),
        )
        for row in rows
        if row.get("baseline")
    ]  # fmt: skip
    observed = [
        _mark(row, _where(result, "survival", row), "share", n="games", sort="machine", group=_("survived"))
        for row in listed(result, "survival")
    ]
    known = {mark.label for mark in observed if mark.value is not None}
    beside = [
        one
        for mark in observed
        for one in (mark, *(other for other in levels if other.label == mark.label and mark.label in known))
    ]
    gaps = [
        Panel(
            words,
            tuple(_mark(row, _where(result, "against_chance", row), "difference", n="games") for row in own),
        )
        for _key, words, own in _by_baseline(result, rows)
    ]
    return [
        *figure(result, "survival", [Panel("", tuple(beside))], share, dots),
        *figure(result, "against_chance", gaps, difference, intervals),
        *_along(result, "per_round", "share", _("Share voted out"), ("chance", _("by random voting"))),
    ]


def votes(result: ReportResult) -> list[Figure]:
    """First votes on the agent against chance; the same along the rounds."""
    share = share_axis(
        _("Share of people's votes on the agent, with intervals at 95 %; n counts votes"), line=None
    )
    marks = [
        mark
        for row in listed(result, "first_round")
        for mark in (
            _mark(row, _where(result, "first_round", row), "share", sort="human", group=_("votes")),
            _mark(
                row, _where(result, "first_round", row), "chance", sort="all_open", group=_("by chance"),
                n="",
            ),
        )
    ]  # fmt: skip
    if not any(row.get("share") is not None for row in listed(result, "first_round")):
        return []
    return [
        *figure(result, "first_round", [Panel("", tuple(marks))], share, dots),
        *_along(result, "by_round", "share", _("Share of votes"), ("chance", _("by chance"))),
    ]


def participation(result: ReportResult) -> list[Figure]:
    """Each measure on an axis of its own; people and agent below one another."""
    rows = [row for row in listed(result, "talk") if row["by"] == ALL and row["who"] != ALL]
    panels = []
    for measure, words, own in scoped(result, "talk", rows, "measure"):
        axis = (
            share_axis("", line=None)
            if measure in ("questions", "answers")
            else Axis("", low=0.0, decimals=2)
        )
        marks = tuple(
            _mark(row, said(result, "talk", row, "who"), "value", sort=SORTS[str(row["who"])]) for row in own
        )
        panels.append(Panel(words, marks, axis))
    by_round = [
        Panel(
            words,
            tuple(
                _mark(row, str(row["round"]), "value", sort=SORTS[str(row["who"])], at=float(row["round"]))
                for row in listed(result, "by_round")
                if row["who"] == who
            ),
        )
        for who, words in ((PEOPLE, pgettext("group game", "people")), (AGENT, _("agent")))
    ]
    draw = partial(courses, along=_rounds(result, "by_round"), columns=2)
    return [
        *figure(result, "talk", panels, Axis(_("Means and shares, with intervals at 95 %")), intervals),
        *figure(result, "by_round", by_round, Axis(_("Messages"), low=0.0), draw, fewest=COURSE),
    ]


def survey(result: ReportResult) -> list[Figure]:
    """A panel for each scale; how answers spread on scales of five."""
    rows = [row for row in listed(result, "means") if row["by"] == ALL]
    panels = []
    for scale in dict.fromkeys(str(row["scale"]) for row in rows):
        low, _dash, high = scale.partition("–")
        own = [row for row in rows if row["scale"] == scale]
        axis = Axis("", low=float(low), high=float(high), decimals=2)
        marks = tuple(_mark(row, said(result, "means", row, "question"), "mean") for row in own)
        panels.append(Panel(_("Scale %(range)s") % {"range": scale}, marks, axis))
    axis = Axis(_("Means, with intervals at 95 %; n counts answers"))
    return [*figure(result, "means", panels, axis, intervals), *_spread(result)]


def _spread(result: ReportResult) -> list[Figure]:
    rows = [row for row in listed(result, "distribution") if row["scale"] == "1–5"]
    marks = []
    for _question, words, own in scoped(result, "distribution", rows, "question"):
        parts = tuple(float(row["share"] or 0.0) for row in own)
        total = sum(int(row["n"]) for row in own)
        marks.append(Mark(words, parts[-1] if total else None, n=total, parts=parts if total else ()))
    axis = share_axis(_("Share of answers; n counts answers"), line=None)
    draw = partial(stacks, parts=("1", "2", "3", "4", "5"))
    return figure(result, "distribution", [Panel("", tuple(marks))], axis, draw)


def _where(result: ReportResult, table: str, row: Row) -> str:
    """All games, or which part of them."""
    level = said(result, table, row, "level")
    by = said(result, table, row, "by")
    return f"{by}: {level}" if level else by


def _by_baseline(result: ReportResult, rows: Any) -> list[tuple[str, str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.get("baseline"):
            found.setdefault(str(row["baseline"]), []).append(row)
    return [(key, said(result, "against_chance", own[0], "baseline"), own) for key, own in found.items()]


def _mark(
    row: Row,
    label: str,
    key: str,
    *,
    sort: Sort = "all",
    group: str = "",
    n: str = "n",
    at: float = 0.0,
) -> Mark:
    """A chance level is known exactly: it has no interval."""
    with_bounds = key != "chance"
    return Mark(
        label=label,
        value=row.get(key),
        low=row.get("low") if with_bounds else None,
        high=row.get("high") if with_bounds else None,
        n=row.get(n) if n else None,
        sort=sort,
        note=str(row.get("note") or "") if row.get(key) is None else "",
        group=group,
        at=at,
    )


def _rounds(result: ReportResult, table: str) -> Along:
    numbers = sorted({int(row["round"]) for row in listed(result, table)})
    last = max(numbers, default=1)
    return Along(
        _("round (selected from the second on)"),
        (0.5, last + 0.5),
        tuple((float(one), str(one)) for one in numbers),
    )


def _along(result: ReportResult, table: str, key: str, words: str, beside: tuple[str, str]) -> list[Figure]:
    """A share and its chance level along the rounds, side by side on one axis."""
    rows = listed(result, table)
    n = "games" if table == "per_round" else "n"
    level, level_words = beside
    panels = [
        Panel(words, tuple(_mark(row, str(row["round"]), key, n=n, at=float(row["round"])) for row in rows)),
        Panel(
            level_words,
            tuple(
                _mark(row, str(row["round"]), level, n="", sort="all_open", at=float(row["round"]))
                for row in rows
            ),
        ),
    ]
    draw = partial(courses, along=_rounds(result, table), columns=2)
    if sum(row.get(key) is not None for row in rows) < COURSE:
        return []
    return figure(result, table, panels, share_axis("", line=None), draw, fewest=COURSE)

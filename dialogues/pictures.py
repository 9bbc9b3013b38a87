"""Figures of the reports on the corpus: the spread of the sound by kind, and what tells the kinds apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from studies.figures import (
    Axis,
    Figure,
    Mark,
    Panel,
    Sort,
    figure,
    intervals,
    listed,
    said,
    scoped,
    share_axis,
)
from studies.reports import ReportResult

Row = Mapping[str, Any]

KINDS: Mapping[str, Sort] = {"H-H": "human", "H-M": "machine", "PH": "machine_open"}
BEYOND = 0.15  # from .5: where the audit warns


def recordings(result: ReportResult) -> list[Figure]:
    """The middle, the middle half and the whole range of what was measured, kind beside kind."""
    panels = [
        Panel(words, tuple(_spread(row) for row in rows if row["kind"] in KINDS), Axis(""))
        for _feature, words, rows in scoped(result, "spread", listed(result, "spread"), "feature")
    ]
    draw = partial(intervals, columns=2, spelt=False)
    return figure(result, "spread", panels, Axis(""), draw)


def nuisance_audit(result: ReportResult) -> list[Figure]:
    """AUC against .5 with the band inside which nothing is warned of: pooled, or the language asked for."""
    axis = replace(share_axis(""), band=(0.5 - BEYOND, 0.5 + BEYOND))
    draw = partial(intervals, columns=2, spelt=False)
    alone = replace(axis, title=_("AUC with intervals at 95 %; a triangle lies beyond .5 ± .15"))
    model = replace(axis, title=_("AUC on unseen dialogues ± SE; a triangle lies beyond .5 + .15"))
    return [
        *figure(result, "model", _compared(result, "model"), model, draw),
        *figure(result, "features", _compared(result, "features"), alone, draw),
    ]


def _spread(row: Row) -> Mark:
    return Mark(
        label=str(row["kind"]),
        value=row["middle"],
        low=row["least"],
        high=row["most"],
        inner=None if row["quarter"] is None else (row["quarter"], row["three_quarters"]),
        n=row["n"],
        sort=KINDS[row["kind"]],
        note=str(row["note"] or ""),
    )


def _compared(result: ReportResult, table: str) -> list[Panel]:
    """A panel for each comparison of the first scope."""
    scopes = scoped(result, table, listed(result, table))
    rows: Iterable[Row] = scopes[0][2] if scopes else ()
    return [
        Panel(
            f"{words} ({own[0]['first_n']} : {own[0]['other_n']})",
            tuple(_told(result, table, row) for row in own),
        )
        for _comparison, words, own in scoped(result, table, rows, "comparison")
    ]


def _told(result: ReportResult, table: str, row: Row) -> Mark:
    value, se = row["auc"], row.get("se")
    by_se = value is not None and se is not None
    return Mark(
        label=said(result, table, row, "feature"),
        value=value,
        low=value - se if by_se else row.get("low"),
        high=value + se if by_se else row.get("high"),
        sort="warning" if row["warning"] else "all",
        note=str(row["note"] or ""),
    )

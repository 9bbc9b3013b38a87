"""Accuracy: the share of right verdicts, by kind, language and length of the clip."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.speech.reports import breakdown, groups, lengths
from games.speech.reports.figures import (
    COUNTS,
    HOW_TWO_WAY,
    KIND,
    LANGUAGE,
    beside,
    counts,
    published_headings,
    share_row,
)
from games.speech.reports.judged import Given, Judged, Mask, given, in_scope, kinds, scopes
from studies.estimates import NOTE, cells, interval_headings
from studies.reports import Options, ReportResult, ReportTable, Tables
from turingsite import stats


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Accuracy by kind and language, all and balanced; by length; the trend over length; by groups."""
    data = given(tables, options, with_published=True)
    everybody = [("all", _("all"), data.judged.all)]
    pooled = [({"kind": label}, mask) for label, mask in kinds(data.judged)]
    return ReportResult(
        key="accuracy",
        title=_("Accuracy"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=data.basis,
        tables=(
            _by_kind(data),
            lengths.by_length(data.judged, pooled, (KIND,)),
            lengths.trend(data.judged, pooled, (KIND,)),
            *groups.tables_of(tables, data.judged),
            breakdown.table(
                data.judged, everybody, "correct", "accuracy", gettext_lazy("right"), names=data.names
            ),
        ),
        notes=(
            _("Right: a human judged human, a machine (pseudo-humans included) judged machine."),
            _("Balanced: the mean of the accuracy on humans and on machines; the mix does not count."),
            _("p of the factors is adjusted by Holm within one family: all demographic factors."),
        ),
    )


def _by_kind(data: Given) -> ReportTable:
    rows: list[dict[str, Any]] = []
    for scope in scopes(data.languages):
        inside = in_scope(data.judged, scope)
        there = None if data.published is None else in_scope(data.published, scope)
        of_published = {} if data.published is None else dict(kinds(data.published))
        for label, of_kind in kinds(data.judged):
            row = {
                "language": scope,
                "kind": label,
                **share_row(data.judged, inside & of_kind, "correct", "accuracy"),
            }
            if there is not None:
                row |= beside(data.published, there & of_published[label], "correct", "accuracy")
            rows.append(row)
        rows.append({"language": scope, "kind": "balanced", **_balanced(data.judged, inside)})
        if data.published is not None and there is not None:
            best = _balanced(data.published, there)
            rows[-1] |= {"published_n": best["n"]}
            rows[-1] |= {f"published_{key}": best[key] for key in ("accuracy", "low", "high")}
    shown = (
        () if data.published is None else published_headings("accuracy", gettext_lazy("accuracy (published)"))
    )
    return ReportTable(
        "by_kind",
        gettext_lazy("By kind of dialogue and language"),
        (
            LANGUAGE,
            KIND,
            *COUNTS,
            *interval_headings("accuracy", gettext_lazy("right")),
            *shown,
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


def _balanced(judged: Judged, mask: Mask) -> dict[str, Any]:
    at = np.flatnonzero(mask)
    estimate = stats.balanced_accuracy(
        judged.correct[at], judged.is_human[at], judged.person[at], judged.dialogue[at]
    )
    humans = int((mask & judged.is_human).sum())
    fewest = min(humans, at.size - humans)
    return {**counts(judged, mask), **cells(estimate, "accuracy", fewest=fewest, alike=_("one kind only"))}

"""Accuracy: the share of right verdicts, by kind, language and length of the clip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dialogues.models import Kind
from games.speech.reports import breakdown
from games.speech.reports.figures import (
    COUNTS,
    FEWEST_VERDICTS,
    HOW_TWO_WAY,
    LANGUAGE,
    NOTE,
    beside,
    cells,
    counts,
    enough,
    interval_headings,
    not_enough,
    published_headings,
    share_row,
)
from games.speech.reports.judged import Given, Judged, Mask, given, in_scope, scopes
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

SHORTEST, LONGEST, STEP = 20, 60, 5  # seconds
BINS = tuple(range(SHORTEST, LONGEST, STEP))

KINDS: tuple[tuple[str, str], ...] = (
    ("H-H", Kind.HUMAN_HUMAN),
    ("H-M", Kind.HUMAN_MACHINE),
    ("PH", Kind.PSEUDO_HUMAN),
)


KIND = Heading(
    "kind", gettext_lazy("kind"), "text", {"all": gettext_lazy("all"), "balanced": gettext_lazy("balanced")}
)


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Accuracy by kind and language, all and balanced; by length in bins; the trend over length."""
    data = given(tables, options)
    groups = [("all", _("all"), data.judged.all)]
    return ReportResult(
        key="accuracy",
        title=_("Accuracy"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=data.basis,
        tables=(
            _by_kind(data),
            _by_length(data.judged),
            _trend(data.judged),
            breakdown.table(data.judged, groups, "correct", "accuracy", gettext_lazy("right")),
        ),
        notes=(
            _("Right: a human judged human, a machine (pseudo-humans included) judged machine."),
            _("Balanced: the mean of the accuracy on humans and on machines; the mix does not count."),
        ),
    )


def kinds(judged: Judged) -> Iterator[tuple[str, Mask]]:
    """Label and verdicts of every kind, then of all."""
    for label, kind in KINDS:
        yield label, judged.kind == kind
    yield "all", judged.all


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
    estimate = stats.balanced_accuracy(
        judged.correct[mask], judged.is_human[mask], judged.person[mask], judged.dialogue[mask]
    )
    humans = int(judged.is_human[mask].sum())
    fewest = min(humans, int(mask.sum()) - humans)
    return {**counts(judged, mask), **cells(estimate, "accuracy", fewest=fewest)}


def _bin_of(judged: Judged) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Place of each clip's bin; −1 below the shortest, the number of bins from the longest on, −2 unknown."""
    known = np.isfinite(judged.length)
    place = np.floor((np.where(known, judged.length, 0.0) - SHORTEST) / STEP)
    return np.where(known, np.clip(place, -1, len(BINS)), -2).astype(np.intp)


def _by_length(judged: Judged) -> ReportTable:
    place = _bin_of(judged)
    labels = {at: f"{start}–{start + STEP}" for at, start in enumerate(BINS)}
    apart = {
        -1: _("under %(s)s s") % {"s": SHORTEST},
        len(BINS): _("%(s)s s and over") % {"s": LONGEST},
        -2: _("length unknown"),
    }
    rows: list[dict[str, Any]] = []
    for label, of_kind in kinds(judged):
        for at, words in labels.items():
            mask = of_kind & (place == at)
            start = BINS[at]
            rows.append(
                {
                    "kind": label,
                    "length": words,
                    "from_s": start,
                    "below_s": start + STEP,
                    **share_row(judged, mask, "correct", "accuracy"),
                }
            )
        for at, words in apart.items():
            mask = of_kind & (place == at)
            if mask.any():
                rows.append(
                    {"kind": label, "length": words, **share_row(judged, mask, "correct", "accuracy")}
                )
    return ReportTable(
        "by_length",
        gettext_lazy("By length of the clip"),
        (
            KIND,
            Heading("length", gettext_lazy("length (s)"), "text"),
            Heading("from_s", gettext_lazy("from (s)"), "count"),
            Heading("below_s", gettext_lazy("below (s)"), "count"),
            *COUNTS,
            *interval_headings("accuracy", gettext_lazy("right")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy("A clip belongs to the bin that begins at or below its length and ends above it."),
    )


def _trend(judged: Judged) -> ReportTable:
    place = _bin_of(judged)
    inside = (place >= 0) & (place < len(BINS))
    rows: list[dict[str, Any]] = []
    for label, of_kind in kinds(judged):
        mask = of_kind & inside
        right = np.bincount(place[mask], weights=judged.correct[mask], minlength=len(BINS))
        total = np.bincount(place[mask], minlength=len(BINS))
        trend = stats.cochran_armitage(right, total)
        slope = stats.slope(judged.correct[mask], place[mask], judged.person[mask], judged.dialogue[mask])
        good = enough(slope)
        test = stats.difference_test(slope)
        rows.append(
            {
                "kind": label,
                **counts(judged, mask),
                "bins": trend.bins,
                "z": trend.z if trend.n >= FEWEST_VERDICTS else None,
                "p_z": trend.p if trend.n >= FEWEST_VERDICTS else None,
                **cells(slope, "slope"),
                "t": test.statistic if good else None,
                "p_t": test.p if good else None,
            }
        )
        if rows[-1]["z"] is None and not rows[-1]["note"]:
            rows[-1]["note"] = not_enough(trend.n)
    return ReportTable(
        "trend",
        gettext_lazy("Trend over length"),
        (
            KIND,
            *COUNTS,
            Heading("bins", gettext_lazy("bins"), "count"),
            Heading("z", gettext_lazy("z (Cochran–Armitage)")),
            Heading("p_z", gettext_lazy("p of z"), "p"),
            *interval_headings("slope", gettext_lazy("slope per bin")),
            Heading("t", "t"),
            Heading("p_t", gettext_lazy("p of t"), "p"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Bins from 20 to 60 s count 0 to 7. Cochran–Armitage takes verdicts as independent and so finds "
            "trends too often; the slope of the linear model with the two-way variance does not."
        ),
    )

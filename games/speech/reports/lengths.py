"""Shares by the length of the clip, and whether they move along it. Half-open bins of 5 s, 20 to 60 s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.speech.reports.figures import COUNTS, KIND, LANGUAGE, counts, share_row
from games.speech.reports.judged import Judged, Mask, given, in_scope, kinds, scopes
from games.speech.reports.speakers import HEAD, head, speakers
from studies.estimates import FEWEST_OPINIONS, NOTE, cells, enough, interval_headings, not_enough, possible
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

SHORTEST, LONGEST, STEP = 20, 60, 5  # seconds
BINS = tuple(range(SHORTEST, LONGEST, STEP))

#: What a row says of itself, and its verdicts.
Groups = Sequence[tuple[Mapping[str, Any], Mask]]


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Right verdicts by length and language; whether the share of right ones, or of "human", moves."""
    data = given(tables, options)
    judged, who = data.judged, speakers(tables)
    by_kind = [
        ({"language": scope, "kind": label}, in_scope(judged, scope) & mask)
        for scope in scopes(data.languages)
        for label, mask in kinds(judged)
    ]
    by_speaker = [
        (head(scope, one), in_scope(judged, scope) & one.among(judged))
        for scope in scopes(data.languages)
        for one in who.everybody
        if not who.lacks(one, scope)
    ]
    return ReportResult(
        key="duration-trend",
        title=_("Trend over length"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=data.basis,
        tables=(
            trend(judged, by_kind, (LANGUAGE, KIND)),
            by_length(judged, by_kind, (LANGUAGE, KIND)),
            trend(
                judged,
                by_speaker,
                HEAD[:4],
                of="human",
                key="by_speaker",
                title=gettext_lazy("“Human” over length, by speaker"),
            ),
        ),
        notes=(
            _("Above 0: longer clips are judged right (or human) more often."),
            _("Kinds differ in length: compare within a kind, not across."),
        ),
    )


def by_length(judged: Judged, groups: Groups, heading: tuple[Heading, ...]) -> ReportTable:
    """Share of right verdicts of each group in each bin; clips outside the bins stand apart."""
    place = _bin_of(judged)
    labels = {at: f"{start}–{start + STEP}" for at, start in enumerate(BINS)}
    apart = {
        -1: _("under %(s)s s") % {"s": SHORTEST},
        len(BINS): _("%(s)s s and over") % {"s": LONGEST},
        -2: _("length unknown"),
    }
    rows: list[dict[str, Any]] = []
    for said, of_group in groups:
        for at, words in labels.items():
            mask = of_group & (place == at)
            start = BINS[at]
            rows.append(
                {
                    **said,
                    "length": words,
                    "from_s": start,
                    "below_s": start + STEP,
                    **share_row(judged, mask, "correct", "accuracy"),
                }
            )
        for at, words in apart.items():
            mask = of_group & (place == at)
            if mask.any():
                rows.append({**said, "length": words, **share_row(judged, mask, "correct", "accuracy")})
    return ReportTable(
        "by_length",
        gettext_lazy("By length of the clip"),
        (
            *heading,
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


def trend(
    judged: Judged,
    groups: Groups,
    heading: tuple[Heading, ...],
    *,
    of: str = "correct",
    key: str = "trend",
    title: Any = None,
) -> ReportTable:
    """Cochran–Armitage over the bins, and the slope with the two-way variance, of the share ``of``."""
    place = _bin_of(judged)
    inside = (place >= 0) & (place < len(BINS))
    values = getattr(judged, of)
    rows: list[dict[str, Any]] = []
    for said, of_group in groups:
        mask = of_group & inside
        at = np.flatnonzero(mask)
        ones = np.bincount(place[at], weights=values[at], minlength=len(BINS))
        total = np.bincount(place[at], minlength=len(BINS))
        along = stats.cochran_armitage(ones, total)
        slope = possible(stats.slope(values[at], place[at], judged.person[at], judged.dialogue[at]))
        good = enough(slope)
        test = stats.difference_test(slope)
        row = {
            **said,
            **counts(judged, mask),
            "bins": along.bins,
            "z": along.z if along.n >= FEWEST_OPINIONS else None,
            "p_z": along.p if along.n >= FEWEST_OPINIONS else None,
            **cells(slope, "slope", alike=_("one length bin")),
            "t": test.statistic if good else None,
            "p_t": test.p if good else None,
        }
        if row["z"] is None and not row["note"]:
            row["note"] = not_enough(along.n)
        rows.append(row)
    return ReportTable(
        key,
        title or gettext_lazy("Trend over length"),
        (
            *heading,
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


def _bin_of(judged: Judged) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Place of each clip's bin; −1 below the shortest, the number of bins from the longest on, −2 unknown."""
    known = np.isfinite(judged.length)
    place = np.floor((np.where(known, judged.length, 0.0) - SHORTEST) / STEP)
    return np.where(known, np.clip(place, -1, len(BINS)), -2).astype(np.intp)

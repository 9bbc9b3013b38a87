"""By round: do people get better, or lean another way, the longer they play? Those who stay stand apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.speech.reports.breakdown import LAST_ROUND, round_words
from games.speech.reports.figures import COUNTS, HOW_TWO_WAY, KIND, LANGUAGE, counts, share_row
from games.speech.reports.judged import Given, Judged, Mask, given, in_scope, kinds, scopes
from studies.estimates import NOTE, cells, enough, interval_headings, possible
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

STAYED = 3  # rounds: with fewer there is no trend within a person

PEOPLE = {
    "everybody": gettext_lazy("everybody"),
    "stayed": gettext_lazy("who played 3 rounds or more, their first 3"),
}
ROUND = Heading("round", gettext_lazy("round"), "text")


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Right verdicts by round and kind; d′ and c by round; the slope over rounds."""
    data = given(tables, options)
    return ReportResult(
        key="by-round",
        title=_("By round"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=data.basis,
        tables=(_right(data), _told_apart(data), _slope(data)),
        notes=(
            _("Who plays on may have been good from the start: read those who stayed beside everybody."),
            _("Rounds brought in from elsewhere without a number stand as “(none)” and are in no slope."),
        ),
    )


def _levels(judged: Judged) -> list[tuple[str, Mask]]:
    """The rounds as levels, in order; the last holds all later ones."""
    which = np.minimum(judged.round_number, LAST_ROUND)
    return [(round_words(number), which == number) for number in sorted(set(which.tolist()))]


def _right(data: Given) -> ReportTable:
    judged = data.judged
    rows = [
        {
            "language": scope,
            "kind": label,
            "round": words or _("(none)"),
            **share_row(judged, in_scope(judged, scope) & of_kind & of_round, "correct", "accuracy"),
        }
        for scope in scopes(data.languages)
        for label, of_kind in kinds(judged)
        for words, of_round in _levels(judged)
    ]
    return ReportTable(
        "by_round",
        gettext_lazy("Right verdicts by round"),
        (
            LANGUAGE,
            KIND,
            ROUND,
            *COUNTS,
            *interval_headings("accuracy", gettext_lazy("right")),
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


def _told_apart(data: Given) -> ReportTable:
    judged = data.judged
    rows: list[dict[str, Any]] = []
    for scope in scopes(data.languages):
        for words, of_round in _levels(judged):
            mask = in_scope(judged, scope) & of_round
            at = np.flatnonzero(mask)
            found = stats.detection(
                judged.human[at], judged.is_human[at], judged.person[at], judged.dialogue[at]
            )
            humans = int((mask & judged.is_human).sum())
            fewest = min(humans, int(mask.sum()) - humans)
            rows.append(
                {
                    "language": scope,
                    "round": words or _("(none)"),
                    **counts(judged, mask),
                    **cells(found.dprime, "dprime", fewest=fewest, alike=_("one kind only")),
                    **cells(found.criterion, "value", "c_", fewest=fewest),
                }
            )
    return ReportTable(
        "told_apart",
        gettext_lazy("Telling machines from humans, by round"),
        (
            LANGUAGE,
            ROUND,
            *COUNTS,
            *interval_headings("dprime", "d′"),
            Heading("c_value", gettext_lazy("criterion c")),
            Heading("c_se", gettext_lazy("SE of c")),
            Heading("c_low", gettext_lazy("low, c")),
            Heading("c_high", gettext_lazy("high, c")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "A rise of d′ is learning; a move of c alone is only another habit of answering. Rates as "
            "(x + .5)/(n + 1), two-way standard error."
        ),
    )


def _slope(data: Given) -> ReportTable:
    judged = data.judged
    known = judged.round_number > 0
    which = np.minimum(judged.round_number, LAST_ROUND).astype(np.float64)
    of_people = {
        "everybody": known,
        "stayed": known & (judged.rounds_played >= STAYED) & (judged.round_number <= STAYED),
    }
    rows: list[dict[str, Any]] = []
    for scope in scopes(data.languages):
        for people, of_them in of_people.items():
            for label, of_kind in kinds(judged):
                mask = in_scope(judged, scope) & of_them & of_kind
                at = np.flatnonzero(mask)
                slope = possible(
                    stats.slope(judged.correct[at], which[at], judged.person[at], judged.dialogue[at])
                )
                test, good = stats.difference_test(slope), enough(slope)
                rows.append(
                    {
                        "language": scope,
                        "people": people,
                        "kind": label,
                        **counts(judged, mask),
                        **cells(slope, "slope", alike=_("one round")),
                        "t": test.statistic if good else None,
                        "p_t": test.p if good else None,
                    }
                )
    return ReportTable(
        "round_slope",
        gettext_lazy("Change from round to round"),
        (
            LANGUAGE,
            Heading("people", gettext_lazy("people"), "text", PEOPLE),
            KIND,
            *COUNTS,
            *interval_headings("slope", gettext_lazy("slope per round")),
            Heading("t", "t"),
            Heading("p_t", gettext_lazy("p of t"), "p"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Slope of the share of right verdicts in the linear model with the two-way variance; the sixth "
            "and later rounds count as 6."
        ),
    )

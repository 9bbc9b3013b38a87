"""Leaks: how often a machine says what it is, and what becomes of the success rate with and without them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dialogues.models import Kind
from games.speech.reports.figures import COUNTS, HOW_TWO_WAY, LANGUAGE, NOTE, interval_headings, share_row
from games.speech.reports.judged import Given, Judged, Mask, given, in_scope, leaking, scopes
from games.speech.reports.speakers import HEAD, MACHINES, Speakers, head, speakers
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

Row = Mapping[str, Any]

WAYS = {
    "as_judged": gettext_lazy("as judged"),
    "excluded": gettext_lazy("leaks left out"),
    "failures": gettext_lazy("leaks as failures"),
}


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Leaking dialogues by system and strategy; success as judged, without leaks, with leaks as failures."""
    data = given(tables, options)
    who = speakers(tables)
    return ReportResult(
        key="leaks",
        title=_("Leaks"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=data.basis,
        tables=(_rate(tables, data, who), _success(data, who), _by_strategy(data)),
        notes=(
            _("A leak: a machine says what it is, found in the transcript and stored as a flag."),
            _("A dialogue without transcript cannot be searched and counts as without leak."),
            _("Leaving leaks out selects on the outcome: read it beside the other two figures."),
        ),
    )


def _rate(tables: Tables, data: Given, who: Speakers) -> ReportTable:
    """Share of the study's machine dialogues that leak: a count of dialogues, judged or not."""
    leaks = leaking(tables)
    checks = {row["dialogue"] for row in tables["items"] if row["role"] != "main"}
    machine = [
        row
        for row in tables["dialogues"]
        if row["kind"] != Kind.HUMAN_HUMAN and row["dialogue"] not in checks
    ]
    rows: list[dict[str, Any]] = []
    for scope in scopes(data.languages):
        inside = [row for row in machine if scope in ("all", row["language"])]
        for one in who.machines:
            own = [row for row in inside if one.key in (MACHINES, str(row["system"] or ""))]
            for strategy, some in _strategies(own):
                found = stats.wilson(sum(row["dialogue"] in leaks for row in some), len(some))
                rows.append(
                    {
                        **head(scope, one),
                        "strategy": strategy,
                        "dialogues": len(some),
                        "leaks": sum(row["dialogue"] in leaks for row in some),
                        "rate": found.value,
                        "low": found.low,
                        "high": found.high,
                        "note": "" if some else _("no dialogues in this language"),
                    }
                )
    return ReportTable(
        "rate",
        gettext_lazy("Dialogues in which the machine says what it is"),
        (
            *HEAD[:4],
            STRATEGY,
            Heading("dialogues", gettext_lazy("dialogues"), "count"),
            Heading("leaks", gettext_lazy("with a leak"), "count"),
            Heading("rate", gettext_lazy("rate")),
            Heading("low", gettext_lazy("low")),
            Heading("high", gettext_lazy("high")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy("Each dialogue counts once, judged or not. Wilson's interval at 95 %."),
    )


def _strategies(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    """All rows, then those of each strategy where there are several."""
    yield "all", rows
    names = sorted({str(row["strategy"] or "") for row in rows})
    if len(names) > 1:
        for name in names:
            yield name or _("(none)"), [row for row in rows if str(row["strategy"] or "") == name]


def _three_ways(judged: Judged, mask: Mask) -> Iterator[dict[str, Any]]:
    """The success rate as judged, without leaks, and with verdicts on leaks counted as "machine"."""
    failed = replace(judged, human=np.where(judged.leaks, 0.0, judged.human))
    for way, source, kept in (
        ("as_judged", judged, mask),
        ("excluded", judged, mask & ~judged.leaks),
        ("failures", failed, mask),
    ):
        yield {"leaks_are": way, **share_row(source, kept, "human", "share")}


def _success(data: Given, who: Speakers) -> ReportTable:
    judged = data.judged
    rows: list[dict[str, Any]] = []
    for scope in scopes(data.languages):
        for one in who.machines:
            for cells in _three_ways(judged, in_scope(judged, scope) & one.among(judged)):
                row = {**head(scope, one), **cells}
                if who.lacks(one, scope):
                    row["note"] = _("no dialogues in this language")
                rows.append(row)
    return ReportTable(
        "leak_success",
        gettext_lazy("Success rate with and without leaks"),
        (
            *HEAD[:4],
            WAY,
            *COUNTS,
            *interval_headings("share", gettext_lazy("judged human")),
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


def _by_strategy(data: Given) -> ReportTable:
    """The same for each strategy, all machines together."""
    judged = data.judged
    rows: list[dict[str, Any]] = []
    for scope in scopes(data.languages):
        inside = in_scope(judged, scope) & ~judged.is_human
        for strategy in sorted(set(judged.strategy[inside].tolist())):
            for cells in _three_ways(judged, inside & (judged.strategy == strategy)):
                rows.append({"language": scope, "strategy": strategy or _("(none)"), **cells})
    return ReportTable(
        "strategy_success",
        gettext_lazy("Success rate by strategy, with and without leaks"),
        (
            LANGUAGE,
            STRATEGY,
            WAY,
            *COUNTS,
            *interval_headings("share", gettext_lazy("judged human")),
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


STRATEGY = Heading("strategy", gettext_lazy("strategy"), "text", {"all": gettext_lazy("all")})
WAY = Heading("leaks_are", gettext_lazy("leaks are"), "text", WAYS)

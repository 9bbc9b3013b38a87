"""Leaks: how often a machine says what it is, and what becomes of the success rate with and without them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dialogues.models import Kind
from games.speech.reports.figures import COUNTS, HOW_TWO_WAY, LANGUAGE, share_row
from games.speech.reports.judged import COLUMNS as JUDGED_COLUMNS
from games.speech.reports.judged import Given, Judged, Mask, given, in_scope, leaking, scopes
from games.speech.reports.speakers import HEAD, MACHINES, Speakers, head, speakers
from studies.estimates import NOTE, interval_headings
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

Row = Mapping[str, Any]
#: Language, speaker and strategy of whose dialogues there is no transcript.
Unsearched = set[tuple[str, str, str]]

#: Of the large tables, what this report reads.
COLUMNS = {**JUDGED_COLUMNS, "dialogues": (*JUDGED_COLUMNS["dialogues"], "transcribed")}

WAYS = {
    "as_judged": gettext_lazy("as judged"),
    "excluded": gettext_lazy("leaks left out"),
    "failures": gettext_lazy("leaks as failures"),
}


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Leaking dialogues by system and strategy; success as judged, without leaks, with leaks as failures."""
    data = given(tables, options)
    who = speakers(tables)
    rate = _rate(tables, data, who)
    unsearched = {
        (row["language"], row["speaker"], row["strategy"]) for row in rate.rows if not row["searched"]
    }
    return ReportResult(
        key="leaks",
        title=_("Leaks"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=data.basis,
        tables=(rate, _success(data, who, unsearched), _by_strategy(data, unsearched)),
        notes=(
            _("A leak: a machine says what it is, found in the transcript and stored as a flag."),
            _("A dialogue without transcript cannot be searched: it is in no rate, verdicts on it stay in."),
            _("Leaving leaks out selects on the outcome: read it beside the other two figures."),
        ),
    )


def _rate(tables: Tables, data: Given, who: Speakers) -> ReportTable:
    """Share of the study's machine dialogues with a transcript that leak, judged or not.

    A flag without transcript was raised by somebody who heard it, and counts as searched.
    """
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
                leaked = [row for row in some if row["dialogue"] in leaks]
                searched = [row for row in some if row["transcribed"] or row["dialogue"] in leaks]
                found = stats.wilson(len(leaked), len(searched))
                rows.append(
                    {
                        **head(scope, one),
                        "strategy": strategy,
                        "dialogues": len(some),
                        "searched": len(searched),
                        "leaks": len(leaked) if searched else None,
                        "rate": found.value,
                        "low": found.low,
                        "high": found.high,
                        "note": _why(some, searched),
                    }
                )
    return ReportTable(
        "rate",
        gettext_lazy("Dialogues in which the machine says what it is"),
        (
            *HEAD[:4],
            _strategy_heading(data),
            Heading("dialogues", gettext_lazy("dialogues"), "count"),
            Heading("searched", gettext_lazy("with transcript"), "count"),
            Heading("leaks", gettext_lazy("with a leak"), "count"),
            Heading("rate", gettext_lazy("rate")),
            Heading("low", gettext_lazy("low")),
            Heading("high", gettext_lazy("high")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Of the dialogues with a transcript, each of which counts once, judged or not. Wilson's interval "
            "at 95 %."
        ),
    )


def _why(there: list[Row], searched: list[Row]) -> str:
    """Why there is no rate; empty where there is one."""
    if not there:
        return _("no dialogues in this language")
    return "" if searched else _("no transcripts")


def _strategies(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    """All rows, then those of each strategy where there are several."""
    yield "all", rows
    names = sorted({str(row["strategy"] or "") for row in rows})
    if len(names) > 1:
        for name in names:
            yield name or _("(none)"), [row for row in rows if str(row["strategy"] or "") == name]


def _strategy_heading(data: Given) -> Heading:
    return Heading("strategy", gettext_lazy("strategy"), "text", {"all": _("all"), **data.names})


def _three_ways(judged: Judged, mask: Mask) -> Iterator[dict[str, Any]]:
    """The success rate as judged, without leaks, and with verdicts on leaks counted as "machine"."""
    failed = replace(judged, human=np.where(judged.leaks, 0.0, judged.human))
    for way, source, kept in (
        ("as_judged", judged, mask),
        ("excluded", judged, mask & ~judged.leaks),
        ("failures", failed, mask),
    ):
        yield {"leaks_are": way, **share_row(source, kept, "human", "share")}


def _success(data: Given, who: Speakers, unsearched: Unsearched) -> ReportTable:
    """Each system and all machines in three ways. ``unsearched`` have a value only as judged."""
    judged = data.judged
    rows: list[dict[str, Any]] = []
    for scope in scopes(data.languages):
        for one in who.machines:
            for cells in _three_ways(judged, in_scope(judged, scope) & one.among(judged)):
                row = {**head(scope, one), **cells}
                if who.lacks(one, scope):
                    row["note"] = _("no dialogues in this language")
                elif (scope, one.key, "all") in unsearched:
                    row = _unknown(row)
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


def _unknown(row: dict[str, Any]) -> dict[str, Any]:
    """Without transcripts nobody knows the share without leaks: none known is not none there."""
    if row["leaks_are"] == "as_judged":
        return row
    return {**row, **dict.fromkeys(("share", "se", "low", "high", "df")), "note": _("no transcripts")}


def _by_strategy(data: Given, unsearched: Unsearched) -> ReportTable:
    """The same for each strategy, all machines together."""
    judged = data.judged
    rows: list[dict[str, Any]] = []
    for scope in scopes(data.languages):
        inside = in_scope(judged, scope) & ~judged.is_human
        for strategy in sorted(set(judged.strategy[inside].tolist())):
            name = strategy or _("(none)")
            lacking = {(scope, MACHINES, "all"), (scope, MACHINES, name)} & unsearched
            for cells in _three_ways(judged, inside & (judged.strategy == strategy)):
                row = {"language": scope, "strategy": name, **cells}
                rows.append(_unknown(row) if lacking else row)
    return ReportTable(
        "strategy_success",
        gettext_lazy("Success rate by strategy, with and without leaks"),
        (
            LANGUAGE,
            _strategy_heading(data),
            WAY,
            *COUNTS,
            *interval_headings("share", gettext_lazy("judged human")),
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


WAY = Heading("leaks_are", gettext_lazy("leaks are"), "text", WAYS)

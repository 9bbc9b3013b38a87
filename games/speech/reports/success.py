"""Success rate: the share of verdicts that said "human", of every system and of human speakers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dialogues.models import Kind, System
from games.speech.reports import breakdown
from games.speech.reports.figures import (
    COUNTS,
    HOW_TWO_WAY,
    LANGUAGE,
    NOTE,
    beside,
    cells,
    enough,
    interval_headings,
    published_headings,
    share,
    share_row,
)
from games.speech.reports.judged import Given, Judged, Mask, given, in_scope, scopes
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

HUMANS, MACHINES = "human", "machines"
DEFAULT_MARGIN = 0.10

STANDINGS = {
    "below": gettext_lazy("below .5"),
    "undecided": gettext_lazy("not decided"),
    "above": gettext_lazy("above .5"),
}
ROLES = {**dict(System.Role.choices), HUMANS: "", MACHINES: ""}


class Speaker(NamedTuple):
    """Who is judged in a row: a system, all machines, human speakers (of one origin or of all)."""

    key: str
    name: str
    role: str
    origin: str = ""

    def among(self, judged: Judged) -> Mask:
        if self.role == HUMANS:
            return judged.is_human if not self.origin else judged.is_human & (judged.origin == self.origin)
        if self.key == MACHINES:
            return ~judged.is_human
        spoken: Mask = ~judged.is_human & (judged.system == self.key)
        return spoken

    @property
    def is_system(self) -> bool:
        return self.role not in (HUMANS, MACHINES)


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Success per system, by language and pooled; human speakers beside; difference, equivalence, d′."""
    data = given(tables, options)
    who = _speakers(tables)
    present = {
        (str(row["system"] or "") if row["kind"] != Kind.HUMAN_HUMAN else HUMANS, str(row["language"]))
        for row in tables["dialogues"]
    }
    margin = next((float(row["margin"]) for row in tables["speech_settings"]), DEFAULT_MARGIN)
    periods = _periods(tables)
    groups = [
        (HUMANS, _("human speakers"), data.judged.is_human),
        (MACHINES, _("all machines"), ~data.judged.is_human),
    ]
    return ReportResult(
        key="success-rate",
        title=_("Success rate"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=data.basis,
        tables=(
            _success(data, who, present),
            _difference(data, who, present, margin, periods),
            _discrimination(data, who, present, periods),
            breakdown.table(data.judged, groups, "human", "share", gettext_lazy("judged human")),
        ),
        notes=(
            _("Below, not decided or above .5 is read from the interval, never from the point."),
            _("p is adjusted by Holm within a family: all systems of one language, or all systems pooled."),
        ),
    )


def _success(data: Given, who: list[Speaker], present: set[tuple[str, str]]) -> ReportTable:
    rows = []
    for scope in scopes(data.languages):
        inside = in_scope(data.judged, scope)
        family: dict[str, float | None] = {}
        block = []
        for one in who:
            mask = inside & one.among(data.judged)
            estimate = share(data.judged, mask, "human")
            row = {**_head(scope, one), **share_row(data.judged, mask, "human", "share")}
            row["standing"] = stats.standing(estimate) if enough(estimate) else None
            row["p"] = stats.proportion_test(estimate).p if enough(estimate) else None
            if data.published is not None:
                there = in_scope(data.published, scope) & one.among(data.published)
                row |= beside(data.published, there, "human", "share")
            if _lacks(one, scope, present):
                row["note"] = _("no dialogues in this language")
            if one.is_system:
                family[one.key] = row["p"]
            block.append(row)
        adjusted = stats.holm(family)
        for row in block:
            row["p_holm"] = adjusted.get(row["speaker"])
        rows += block
    beside_headings = (
        ()
        if data.published is None
        else published_headings("share", gettext_lazy("judged human (published)"))
    )
    return ReportTable(
        "success",
        gettext_lazy("Share of verdicts that said “human”"),
        (
            *_HEAD,
            *COUNTS,
            *interval_headings("share", gettext_lazy("judged human")),
            Heading("standing", gettext_lazy("against .5"), "text", STANDINGS),
            Heading("p", gettext_lazy("p against .5"), "p"),
            Heading("p_holm", gettext_lazy("p (Holm)"), "p"),
            *beside_headings,
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


def _difference(
    data: Given,
    who: list[Speaker],
    present: set[tuple[str, str]],
    margin: float,
    periods: Mapping[str, datetime],
) -> ReportTable:
    rows = []
    judged = data.judged
    for scope in scopes(data.languages):
        block = []
        family: dict[str, float | None] = {}
        for one in (speaker for speaker in who if speaker.is_system):
            both, humans = _against_humans(judged, one, scope, periods)
            wide, narrow = (
                stats.difference(
                    judged.human[both],
                    judged.is_human[both],
                    judged.person[both],
                    judged.dialogue[both],
                    level=level,
                )
                for level in (0.95, 0.90)
            )
            n, n_humans = int((both & ~humans).sum()), int(humans.sum())
            fewest = min(n, n_humans)
            good = enough(wide, fewest)
            row = {
                **_head(scope, one),
                "n": n,
                "human_n": n_humans,
                **cells(wide, "difference", fewest=fewest),
                "p": stats.difference_test(wide).p if good else None,
                "low90": narrow.low if good else None,
                "high90": narrow.high if good else None,
                "margin": margin,
                "equivalent": stats.equivalent(narrow, margin) if good else None,
            }
            if _lacks(one, scope, present):
                row["note"] = _("no dialogues in this language")
            family[one.key] = row["p"]
            block.append(row)
        adjusted = stats.holm(family)
        for row in block:
            row["p_holm"] = adjusted[row["speaker"]]
        rows += block
    return ReportTable(
        "difference",
        gettext_lazy("Human speakers minus system"),
        (
            *_HEAD[:3],
            Heading("n", gettext_lazy("verdicts"), "count"),
            Heading("human_n", gettext_lazy("verdicts on humans"), "count"),
            *interval_headings("difference", gettext_lazy("difference")),
            Heading("p", gettext_lazy("p"), "p"),
            Heading("p_holm", gettext_lazy("p (Holm)"), "p"),
            Heading("low90", gettext_lazy("low, 90 %")),
            Heading("high90", gettext_lazy("high, 90 %")),
            Heading("margin", gettext_lazy("margin"), "text"),
            Heading("equivalent", gettext_lazy("equivalent"), "text"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Equivalent where the interval (90 %) of the difference lies within the margin on both sides. A "
            "system added to a running study is compared with human speakers judged since then."
        ),
    )


def _discrimination(
    data: Given, who: list[Speaker], present: set[tuple[str, str]], periods: Mapping[str, datetime]
) -> ReportTable:
    rows = []
    judged = data.judged
    for scope in scopes(data.languages):
        for one in (speaker for speaker in who if speaker.is_system or speaker.key == MACHINES):
            both, humans = _against_humans(judged, one, scope, periods)
            found = stats.detection(
                judged.human[both], judged.is_human[both], judged.person[both], judged.dialogue[both]
            )
            n, n_humans = int((both & ~humans).sum()), int(humans.sum())
            fewest = min(n, n_humans)
            row = {
                **_head(scope, one),
                "n": n,
                "human_n": n_humans,
                **cells(found.dprime, "dprime", fewest=fewest),
                **cells(found.criterion, "value", "c_", fewest=fewest),
            }
            if _lacks(one, scope, present):
                row["note"] = _("no dialogues in this language")
            rows.append(row)
    return ReportTable(
        "discrimination",
        gettext_lazy("Telling the system from human speakers"),
        (
            *_HEAD[:3],
            Heading("n", gettext_lazy("verdicts"), "count"),
            Heading("human_n", gettext_lazy("verdicts on humans"), "count"),
            *interval_headings("dprime", "d′"),
            Heading("c_value", gettext_lazy("criterion c")),
            Heading("c_se", gettext_lazy("SE of c")),
            Heading("c_low", gettext_lazy("low, c")),
            Heading("c_high", gettext_lazy("high, c")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "d′ = z(humans judged human) − z(system judged human), rates as (x + .5)/(n + 1), two-way "
            "standard error. c above 0: people lean to “machine”."
        ),
    )


_HEAD = (
    LANGUAGE,
    Heading("speaker", gettext_lazy("speaker B"), "text"),
    Heading("name", gettext_lazy("name"), "text"),
    Heading("role", gettext_lazy("role"), "text", ROLES),
    Heading("origin", gettext_lazy("origin"), "text"),
)


def _head(scope: str, one: Speaker) -> dict[str, Any]:
    return {
        "language": scope,
        "speaker": one.key,
        "name": one.name,
        "role": one.role,
        "origin": one.origin,
    }


def _speakers(tables: Tables) -> list[Speaker]:
    """Rows of the tables: systems by name, all machines, human speakers and each of their origins."""
    judged = {str(row["system"] or "") for row in tables["dialogues"] if row["kind"] != Kind.HUMAN_HUMAN}
    known = {str(row["system"]): row for row in tables["systems"]}
    systems = sorted(
        (
            Speaker(code, str(known[code]["name"]), str(known[code]["role"]))
            if code in known
            else Speaker(code, _("system not named"), "")
            for code in judged
        ),
        key=lambda one: one.name.casefold(),
    )
    origins = sorted(
        {
            str(row["origin"])
            for row in tables["dialogues"]
            if row["kind"] == Kind.HUMAN_HUMAN and row["origin"]
        }
    )
    humans = [Speaker(HUMANS, _("human speakers"), HUMANS)]
    if len(origins) > 1:
        humans += [
            Speaker(
                f"{HUMANS}:{origin}", _("human speakers, %(origin)s") % {"origin": origin}, HUMANS, origin
            )
            for origin in origins
        ]
    machines = [Speaker(MACHINES, _("all machines"), MACHINES)] if systems else []
    return [*systems, *machines, *humans]


def _periods(tables: Tables) -> dict[str, datetime]:
    """When each system that joined the running study did: first item of its block. Block 1 is absent."""
    began: dict[int, datetime] = {}
    for item in tables["items"]:
        block = int(item["block"])
        began[block] = min(began.get(block, item["added_at"]), item["added_at"])
    blocks: dict[str, int] = {}
    about = {row["dialogue"]: row for row in tables["dialogues"]}
    for item in tables["items"]:
        dialogue = about.get(item["dialogue"])
        if dialogue is not None and dialogue["kind"] != Kind.HUMAN_HUMAN:
            code = str(dialogue["system"] or "")
            blocks[code] = min(blocks.get(code, int(item["block"])), int(item["block"]))
    return {code: began[block] for code, block in blocks.items() if block > 1}


def _against_humans(
    judged: Judged, one: Speaker, scope: str, periods: Mapping[str, datetime]
) -> tuple[Mask, Mask]:
    """Verdicts on the speaker and on humans of the same language and period; and those on humans alone."""
    inside = in_scope(judged, scope)
    humans = inside & judged.is_human
    if one.key in periods:
        since = periods[one.key]
        humans &= np.fromiter((at >= since for at in judged.given_at), dtype=bool, count=judged.n)
    return humans | (inside & one.among(judged)), humans


def _lacks(one: Speaker, scope: str, present: set[tuple[str, str]]) -> bool:
    return one.is_system and scope != "all" and (one.key, scope) not in present

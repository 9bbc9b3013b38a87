"""Discrimination: d′ and criterion c of every system against human speakers, and between systems."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.speech.reports import families
from games.speech.reports.figures import LANGUAGE
from games.speech.reports.judged import Given, given, in_scope, scopes
from games.speech.reports.speakers import HEAD, MACHINES, Speakers, head, speakers
from studies.estimates import NOTE, adjust, cells, enough, interval_headings
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """d′ and c by system and language, tested against nothing; differences between systems."""
    data = given(tables, options)
    who = speakers(tables)
    return ReportResult(
        key="discrimination",
        title=_("Discrimination"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=data.basis,
        tables=(by_system(data, who), _between(data, who)),
        notes=(
            _("d′ of 0: people judge the system human as often as they judge humans human."),
            _("A success rate of .5 is no d′ of 0 where people judge humans human more often than that."),
            _("p is adjusted by Holm within the family named beside it, in each language and pooled apart."),
        ),
    )


def by_system(data: Given, who: Speakers) -> ReportTable:
    """d′ and c of each system and of all machines, in each language and pooled."""
    rows: list[dict[str, Any]] = []
    judged = data.judged
    for scope in scopes(data.languages):
        block: list[dict[str, Any]] = []
        for one in who.machines:
            both, humans = who.against_humans(judged, one, scope)
            at = np.flatnonzero(both)
            found = stats.detection(
                judged.human[at], judged.is_human[at], judged.person[at], judged.dialogue[at]
            )
            n, n_humans = int((both & ~humans).sum()), int(humans.sum())
            fewest = min(n, n_humans)
            good = enough(found.dprime, fewest)
            row = {
                **head(scope, one),
                "n": n,
                "human_n": n_humans,
                **cells(found.dprime, "dprime", fewest=fewest),
                "p": stats.difference_test(found.dprime).p if good else None,
                **cells(found.criterion, "value", "c_", fewest=fewest),
            }
            if who.lacks(one, scope):
                row["note"] = _("no dialogues in this language")
            block.append(row)
        adjust([row for row in block if row["speaker"] != MACHINES], "discrimination")
        rows += block
    return ReportTable(
        "discrimination",
        gettext_lazy("Telling the system from human speakers"),
        (
            *HEAD[:3],
            Heading("n", gettext_lazy("verdicts"), "count"),
            Heading("human_n", gettext_lazy("verdicts on humans"), "count"),
            *interval_headings("dprime", "d′"),
            Heading("p", gettext_lazy("p against 0"), "p"),
            *families.HEADINGS,
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


def _between(data: Given, who: Speakers) -> ReportTable:
    """d′ of one system minus that of another, for each two that were judged in the language."""
    rows: list[dict[str, Any]] = []
    judged = data.judged
    for scope in scopes(data.languages):
        inside = in_scope(judged, scope)
        block: list[dict[str, Any]] = []
        on = {one: inside & one.among(judged) for one in who.systems}
        humans = {one: who.humans_beside(judged, one, scope) for one in who.systems}
        for one, other in combinations([one for one in who.systems if on[one].any()], 2):
            first, second = on[one], on[other]
            found = stats.dprime_difference(
                judged.human,
                first,
                second,
                judged.person,
                judged.dialogue,
                humans=(humans[one], humans[other]),
            )
            n, other_n = int(first.sum()), int(second.sum())
            fewest = min(n, other_n)
            row = {
                "language": scope,
                "speaker": one.key,
                "name": one.name,
                "other": other.key,
                "other_name": other.name,
                "n": n,
                "other_n": other_n,
                **cells(found, "difference", fewest=fewest),
                "p": stats.difference_test(found).p if enough(found, fewest) else None,
            }
            block.append(row)
        adjust(block, "between")
        rows += block
    return ReportTable(
        "between",
        gettext_lazy("Systems against one another"),
        (
            LANGUAGE,
            Heading("speaker", gettext_lazy("system"), "text"),
            Heading("name", gettext_lazy("name"), "text"),
            Heading("other", gettext_lazy("other system"), "text"),
            Heading("other_name", gettext_lazy("its name"), "text"),
            Heading("n", gettext_lazy("verdicts"), "count"),
            Heading("other_n", gettext_lazy("verdicts on the other"), "count"),
            *interval_headings("difference", gettext_lazy("d′ minus the other's")),
            Heading("p", "p", "p"),
            *families.HEADINGS,
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Above 0: the first is easier to tell from humans. The human speakers are the same for both and "
            "cancel, unless a system joined the running study: it is set against humans judged since then. "
            "Two-way standard error, t with the smallest number of clusters in either system less one. p is "
            "adjusted by Holm over all pairs of the language."
        ),
    )

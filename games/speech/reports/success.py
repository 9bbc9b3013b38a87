"""Success rate: the share of verdicts that said "human", of every system and of human speakers."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.speech.reports import benchmarks, breakdown, discrimination, families, strategies
from games.speech.reports.figures import COUNTS, HOW_TWO_WAY, beside, published_headings, share, share_row
from games.speech.reports.judged import Given, given, in_scope, scopes
from games.speech.reports.speakers import HEAD, HUMANS, MACHINES, Speakers, head, speakers
from studies.estimates import NOTE, adjust, cells, enough, interval_headings, possible
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

DEFAULT_MARGIN = 0.10

NO_SCORES = gettext_lazy(
    "To set success against outside benchmarks, give systems their scores in the administration, as "
    '{"MMAU-Pro": 46.6}.'
)
STANDINGS = {
    "below": gettext_lazy("below .5"),
    "undecided": gettext_lazy("not decided"),
    "above": gettext_lazy("above .5"),
}


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Success per system, by language and pooled; human speakers beside; difference, equivalence, d′."""
    data = given(tables, options, with_published=True)
    who = speakers(tables)
    margin = options.margin  # of the frozen plan; else the study's
    if margin is None:
        margin = next((float(row["margin"]) for row in tables["speech_settings"]), DEFAULT_MARGIN)
    outside = benchmarks.tables_of(tables, data.judged, who)
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
            _success(data, who),
            _difference(data, who, margin),
            discrimination.by_system(data, who),
            strategies.table(data),
            *outside,
            breakdown.table(
                data.judged, groups, "human", "share", gettext_lazy("judged human"), names=data.names
            ),
            breakdown.table(
                data.judged,
                [(one.key, one.name, one.among(data.judged)) for one in who.everybody if one.is_listed_alone],
                "human",
                "share",
                gettext_lazy("judged human"),
                names=data.names,
                key="speaker_breakdown",
                title=gettext_lazy("Each system, and humans by origin, by round, strategy and topic"),
                factors=("round", "strategy", "topic"),
            ),
        ),
        notes=(
            _("Below, not decided or above .5 is read from the interval, never from the point."),
            _("p is adjusted by Holm within the family named beside it, in each language and pooled apart."),
            *(() if outside else (NO_SCORES,)),
        ),
    )


def _success(data: Given, who: Speakers) -> ReportTable:
    rows = []
    for scope in scopes(data.languages):
        inside = in_scope(data.judged, scope)
        block = []
        for one in who.everybody:
            mask = inside & one.among(data.judged)
            estimate = share(data.judged, mask, "human")
            row = {**head(scope, one), "aliases": one.aliases}
            row |= share_row(data.judged, mask, "human", "share", estimate)
            row["standing"] = stats.standing(estimate) if enough(estimate) else None
            row["p"] = stats.proportion_test(estimate).p if enough(estimate) else None
            if data.published is not None:
                there = in_scope(data.published, scope) & one.among(data.published)
                row |= beside(data.published, there, "human", "share")
            if who.lacks(one, scope):
                row["note"] = _("no dialogues in this language")
            block.append((one, row))
        adjust([row for one, row in block if one.is_system], "success")
        rows += [row for _one, row in block]
    beside_headings = (
        ()
        if data.published is None
        else published_headings("share", gettext_lazy("judged human (published)"))
    )
    return ReportTable(
        "success",
        gettext_lazy("Share of verdicts that said “human”"),
        (
            *HEAD,
            Heading("aliases", gettext_lazy("also called"), "text"),
            *COUNTS,
            *interval_headings("share", gettext_lazy("judged human")),
            Heading("standing", gettext_lazy("against .5"), "text", STANDINGS),
            Heading("p", gettext_lazy("p against .5"), "p"),
            *families.HEADINGS,
            *beside_headings,
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


def _difference(data: Given, who: Speakers, margin: float) -> ReportTable:
    rows = []
    judged = data.judged
    for scope in scopes(data.languages):
        block = []
        for one in who.systems:
            both, humans = who.against_humans(judged, one, scope)
            at = np.flatnonzero(both)
            raw = stats.difference(
                judged.human[at], judged.is_human[at], judged.person[at], judged.dialogue[at]
            )
            wide, narrow = possible(raw), possible(stats.at_level(raw, 0.90))
            n, n_humans = int((both & ~humans).sum()), int(humans.sum())
            fewest = min(n, n_humans)
            good = enough(wide, fewest)
            row = {
                **head(scope, one),
                "n": n,
                "human_n": n_humans,
                **cells(wide, "difference", fewest=fewest),
                "p": stats.difference_test(wide).p if good else None,
                "low90": narrow.low if good else None,
                "high90": narrow.high if good else None,
                "margin": margin,
                "equivalent": stats.equivalent(narrow, margin) if good else None,
            }
            if who.lacks(one, scope):
                row["note"] = _("no dialogues in this language")
            block.append(row)
        adjust(block, "difference")
        rows += block
    return ReportTable(
        "difference",
        gettext_lazy("Human speakers minus system"),
        (
            *HEAD[:3],
            Heading("n", gettext_lazy("verdicts"), "count"),
            Heading("human_n", gettext_lazy("verdicts on humans"), "count"),
            *interval_headings("difference", gettext_lazy("difference")),
            Heading("p", gettext_lazy("p"), "p"),
            *families.HEADINGS,
            Heading("low90", gettext_lazy("low, 90 %")),
            Heading("high90", gettext_lazy("high, 90 %")),
            Heading("margin", gettext_lazy("margin"), "text"),
            Heading("equivalent", gettext_lazy("equivalent"), "text"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Equivalent where the interval (90 %) of the difference lies within the margin on both sides. A "
            "system added to a running study is compared with human speakers judged since then. Intervals "
            "are cut at −1 and 1, beyond which no difference lies."
        ),
    )

"""Success against outside benchmarks: do systems that score higher elsewhere pass for human more often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy

from games.speech.reports.figures import COUNTS, HOW_TWO_WAY, share_row
from games.speech.reports.judged import Judged
from games.speech.reports.speakers import Speakers
from studies.estimates import NOTE, interval_headings, not_enough
from studies.reports import Heading, ReportTable, Tables
from turingsite import stats

#: With three systems the smallest possible p of a rank correlation is a third.
FEWEST_SYSTEMS = 4

Row = dict[str, Any]


def tables_of(tables: Tables, judged: Judged, who: Speakers) -> tuple[ReportTable, ...]:
    """Score and success of every system that has a score, and how the two go together, by benchmark; no
    table where no system has one."""
    scores = {str(row["system"]): scores_of(row["benchmark"]) for row in tables["systems"]}
    by_benchmark = {
        name: [
            _row(judged, name, one, scores[one.key][name])
            for one in who.systems
            if name in scores.get(one.key, {})
        ]
        for name in sorted({name for found in scores.values() for name in found})
    }
    return (_scores(by_benchmark), _rank(by_benchmark)) if by_benchmark else ()


def scores_of(benchmark: Any) -> dict[str, float]:
    """The numbers among what a system's benchmark field holds, by name."""
    if not isinstance(benchmark, Mapping):
        return {}
    return {
        str(name): float(score)
        for name, score in benchmark.items()
        if isinstance(score, int | float) and not isinstance(score, bool)
    }


def _row(judged: Judged, benchmark: str, one: Any, score: float) -> Row:
    return {
        "benchmark": benchmark,
        "speaker": one.key,
        "name": one.name,
        "score": score,
        **share_row(judged, one.among(judged), "human", "share"),
    }


def _scores(by_benchmark: Mapping[str, list[Row]]) -> ReportTable:
    return ReportTable(
        "benchmark",
        gettext_lazy("Success and outside benchmarks"),
        (
            BENCHMARK,
            Heading("speaker", gettext_lazy("system"), "text"),
            Heading("name", gettext_lazy("name"), "text"),
            Heading("score", gettext_lazy("score")),
            *COUNTS,
            *interval_headings("share", gettext_lazy("judged human")),
            NOTE,
        ),
        tuple(row for rows in by_benchmark.values() for row in rows),
        HOW_TWO_WAY,
    )


def _rank(by_benchmark: Mapping[str, list[Row]]) -> ReportTable:
    rows: list[Row] = []
    for name, systems in by_benchmark.items():
        pairs = [(row["score"], row["share"]) for row in systems if row["share"] is not None]
        score, share = [one for one, _ in pairs], [other for _, other in pairs]
        row: Row = {"benchmark": name, "systems": len(pairs)}
        for key, coefficient in (
            ("pearson", stats.pearson),
            ("spearman", stats.spearman),
            ("kendall", stats.kendall),
        ):
            found = coefficient(score, share)
            good = len(pairs) >= FEWEST_SYSTEMS
            row |= {key: found.value if good else None, f"p_{key}": found.p if good else None}
        row["note"] = "" if row["pearson"] is not None else not_enough(len(pairs))
        rows.append(row)
    return ReportTable(
        "benchmark_rank",
        gettext_lazy("Do success and benchmark go together"),
        (
            BENCHMARK,
            Heading("systems", gettext_lazy("systems"), "count"),
            Heading("pearson", gettext_lazy("r (Pearson)")),
            Heading("p_pearson", gettext_lazy("p of r"), "p"),
            Heading("spearman", gettext_lazy("ρ (Spearman)")),
            Heading("p_spearman", gettext_lazy("p of ρ"), "p"),
            Heading("kendall", gettext_lazy("τ-b (Kendall)")),
            Heading("p_kendall", gettext_lazy("p of τ-b"), "p"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Each system counts once, with its success rate as if that were known exactly. From four systems "
            "on; p of τ-b is exact where no two are equal."
        ),
    )


BENCHMARK = Heading("benchmark", gettext_lazy("benchmark"), "text")

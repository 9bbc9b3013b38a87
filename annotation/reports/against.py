"""A rater against the others, against themselves, and against known scores."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Attempt
from annotation.reports.working import RATER, Work, Worker
from studies.estimates import FEWEST_OPINIONS, NOTE, interval_headings, lacking, not_enough
from studies.reports import Heading, Options, ReportTable, Tables
from turingsite import stats


def others(found: Work) -> ReportTable:
    rows = []
    for one in found.workers:
        mean = one.figures.others
        n = mean.difference.n
        good = n >= FEWEST_OPINIONS
        rows.append(
            {
                "rater": one.code,
                "n": n,
                "difference": mean.difference.value if good else None,
                "correlation": mean.correlation.value if good else None,
                "note": "" if good else not_enough(n),
            }
        )
    return ReportTable(
        "others",
        gettext_lazy("Agreement with the others"),
        (
            RATER,
            Heading("n", gettext_lazy("scores compared"), "count"),
            Heading("correlation", gettext_lazy("rank correlation")),
            Heading("difference", gettext_lazy("mean difference, in steps")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Against the mean of the other raters of the same dialogue, where both have evidence: Spearman's "
            "rank correlation over all scores, mean of |own − others|."
        ),
    )


def drift(found: Work) -> ReportTable:
    rows = []
    for one in found.workers:
        slope = one.figures.drift
        note = lacking(slope) if one.ordered else _("order of work not known")
        shown = slope if not note else stats.Estimate(None, slope.n)
        rows.append(
            {
                "rater": one.code,
                "n": slope.n,
                "moved": None if shown.value is None else shown.value * (slope.n - 1),
                **{
                    name: None if value is None else 100 * value
                    for name, value in (
                        ("slope", shown.value),
                        ("se", shown.se),
                        ("low", shown.low),
                        ("high", shown.high),
                    )
                },
                "df": shown.df,
                "note": note,
            }
        )
    return ReportTable(
        "drift",
        gettext_lazy("Drift against the others"),
        (
            RATER,
            Heading("n", gettext_lazy("dialogues"), "count"),
            *interval_headings("slope", gettext_lazy("steps per 100 dialogues")),
            Heading("moved", gettext_lazy("steps over all the work")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Slope of the difference to the other raters' mean over the order of work, least squares over "
            "dialogues, intervals at 95 %. Above 0: hears more human with time than the others do."
        ),
    )


def retest(found: Work) -> ReportTable:
    rows = []
    for one in found.workers:
        again = one.figures.retest
        good = again.n >= FEWEST_OPINIONS
        note = "" if good else not_enough(again.n)
        rows.append(
            {
                "rater": one.code,
                "repeats": one.figures.repeats,
                "n": again.n,
                "kappa": again.kappa.value if good else None,
                "exact": again.exact if good else None,
                "within_one": again.within_one if good else None,
                "note": note or ("" if again.kappa.value is not None else _("no spread")),
            }
        )
    return ReportTable(
        "retest",
        gettext_lazy("Hidden repeats: agreement with oneself"),
        (
            RATER,
            Heading("repeats", gettext_lazy("hidden repeats"), "count"),
            Heading("n", gettext_lazy("pairs of scores"), "count"),
            Heading("kappa", gettext_lazy("weighted kappa")),
            Heading("exact", gettext_lazy("equal (share)")),
            Heading("within_one", gettext_lazy("at most 1 apart (share)")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "First and second score of the same dialogue and dimension, where both have evidence; kappa with "
            "quadratic weights."
        ),
    )


def halo(found: Work) -> ReportTable:
    rows = []
    for one in found.workers:
        share = one.figures.halo
        assert share is not None  # noqa: S101  (figures are made with it)
        note = "" if share.value is not None else _("no spread") if share.lack == "no_spread" else ""
        rows.append(
            {
                "rater": one.code,
                "n": share.n,
                "dimensions": share.dimensions,
                "halo": share.value,
                "unrelated": share.unrelated,
                "note": note or ("" if share.value is not None else not_enough(share.n)),
            }
        )
    return ReportTable(
        "halo",
        gettext_lazy("Halo: one judgement said many times"),
        (
            RATER,
            Heading("n", gettext_lazy("dialogues"), "count"),
            Heading("dimensions", gettext_lazy("dimensions used"), "count"),
            Heading("halo", gettext_lazy("share of the first component")),
            Heading("unrelated", gettext_lazy("if nothing went together")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Largest eigenvalue of the correlations between a rater's dimensions, as a share of all; beside "
            "it the mean of 100 shuffles, in which nothing goes together. Dialogues that differ in kind "
            "raise it too: compare raters with one another. From ten dialogues on."
        ),
    )


def known(tables: Tables, found: Work, options: Options) -> ReportTable:
    """Known scores: calibration, each rater's last try, and gold items in the course of work."""
    tries: dict[str, list[Any]] = {}
    for row in tables["calibrations"]:
        tries.setdefault(row["participant"], []).append(row)
    of_layer = [row["participant"] for row in tables["annotators"] if row["layer"] == options.layer]
    workers: dict[str, Worker] = {one.code: one for one in found.workers}
    rows = []
    for code in sorted({*workers, *of_layer}):
        own = sorted(tries.get(code, []), key=lambda row: row["calibration"])
        last = own[-1] if own else {}
        worker = workers.get(code)
        gold = worker.figures.gold if worker else None
        n = gold.difference.n if gold else 0
        good = gold is not None and n >= FEWEST_OPINIONS
        rows.append(
            {
                "rater": code,
                "tries": len(own),
                "state": last.get("state", ""),
                "calibration": last.get("mean_difference"),
                "calibration_clear": last.get("clear_share"),
                "gold": worker.gold if worker else 0,
                "n": n,
                "difference": gold.difference.value if gold is not None and good else None,
                "clear": gold.clear.value if gold is not None and good else None,
                "note": "",
            }
        )
    return ReportTable(
        "known",
        gettext_lazy("Against known scores: calibration and gold items"),
        (
            RATER,
            Heading("tries", gettext_lazy("calibrations tried"), "count"),
            Heading("state", gettext_lazy("last one"), "text", dict(Attempt.State.choices)),
            Heading("calibration", gettext_lazy("mean difference there")),
            Heading("calibration_clear", gettext_lazy("clear scores right there (share)")),
            Heading("gold", gettext_lazy("gold items"), "count"),
            Heading("n", gettext_lazy("gold scores compared"), "count"),
            Heading("difference", gettext_lazy("mean difference on gold")),
            Heading("clear", gettext_lazy("clear scores right on gold (share)")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Mean of |own − known| where both have evidence; of the known clear scores (1, 2, 4, 5) the "
            "share on the right side. Gold items look like work to the rater."
        ),
    )

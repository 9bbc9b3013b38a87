"""Agreement: how far raters of the same dialogues give the same scores, by dimension, before any review."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.reports import between_layers, final_choice
from annotation.reports.given import Floats, Given, given
from annotation.reports.parts import (
    COUNTS,
    columns_of,
    dimension_heading,
    few_dialogues,
    pairable,
    too_narrow,
)
from studies.estimates import FEWEST_OPINIONS, NOTE, enough, lacking
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Alpha with its interval, by dimension and of all; percent agreement, kappa, both codings; choices."""
    data = given(tables, options)
    on_evidence = _with_overall(data.labels.slots(data.labels.evidence))
    alpha = _alpha(data, on_evidence)
    layers = between_layers.tables_of(data)
    chosen = final_choice.table(tables, data, options)
    few = few_dialogues([*alpha.rows, *chosen.rows])
    return ReportResult(
        key="agreement",
        title=_("Agreement"),
        study=study,
        analysis_set="",
        language=options.language,
        basis=data.basis,
        tables=(alpha, _beside(data, on_evidence), chosen, *layers),
        notes=(
            *(
                [
                    _(
                        "Some figures rest on fewer than 30 dialogues: their intervals are too narrow. With "
                        "20 dialogues they hold the true alpha in .92 to .93 of all cases, with 10 in .86 to "
                        ".91."
                    )
                ]
                if few
                else []
            ),
            _("Alpha of 1: the same scores. 0: no closer than scores drawn from all dialogues."),
            _(
                "Krippendorff's advice: rely on .8 or more, draw tentative conclusions from .667 on. What a "
                "mean of several raters is worth stands under “reliability”."
            ),
            _("Gold items, calibration and hidden repeats measure raters; they are not in here."),
        ),
        layer=options.layer,
    )


def _alpha(data: Given, on_evidence: list[stats.AlphaInterval]) -> ReportTable:
    """Alpha on evidence by dimension, and what the mean of k raters is worth."""
    labels = data.labels
    rows = []
    pairs = pairable(labels, ~np.isnan(labels.evidence))
    for (key, category, at), found in zip(columns_of(data), on_evidence, strict=True):
        note = _why_no_alpha(found)
        shown = found.alpha if not note else stats.Estimate(None, found.alpha.n)
        among = pairs.any(axis=1) if at is None else pairs[:, at]
        dialogues = found.alpha.items or 0
        rows.append(
            {
                "dimension": key,
                "category": category,
                "n": found.alpha.n,
                "raters": np.unique(labels.rater[among]).size,
                "dialogues": dialogues,
                "alpha": shown.value,
                "se": shown.se,
                "low": shown.low,
                "high": shown.high,
                "k": data.k,
                "reliability": stats.spearman_brown(shown.value, data.k),
                "reliability_low": stats.spearman_brown(shown.low, data.k),
                "reliability_high": stats.spearman_brown(shown.high, data.k),
                "note": note or too_narrow(dialogues),
            }
        )
    return ReportTable(
        "alpha",
        gettext_lazy("Krippendorff's alpha, by dimension"),
        (
            *dimension_heading(data),
            *COUNTS,
            Heading("alpha", gettext_lazy("alpha")),
            Heading("se", gettext_lazy("SE")),
            Heading("low", gettext_lazy("low")),
            Heading("high", gettext_lazy("high")),
            Heading("k", gettext_lazy("raters per dialogue (k)"), "count"),
            Heading("reliability", gettext_lazy("reliability at k")),
            Heading("reliability_low", gettext_lazy("low, at k")),
            Heading("reliability_high", gettext_lazy("high, at k")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Ordinal alpha of scores with evidence that have another one to be compared with. Intervals at "
            "95 %: whole dialogues drawn with replacement 2000 times, percentiles. All dimensions: every "
            "dialogue and dimension a unit, drawn by dialogue. Reliability at k: of the mean of k raters, by "
            "Spearman–Brown from alpha and its bounds."
        ),
    )


def _beside(data: Given, on_evidence: list[stats.AlphaInterval]) -> ReportTable:
    """Percent agreement, kappa over pairs of raters, and alpha where no evidence counts as 3."""
    labels = data.labels
    as_published = _with_overall(labels.slots(labels.published))
    kappas = [stats.pairwise_kappa(one) for one in np.moveaxis(labels.by_rater(labels.evidence), 2, 0)]
    rows = []
    for place, (key, category, at) in enumerate(columns_of(data)):
        agreement, published = on_evidence[place].agreement, as_published[place].alpha
        note, known = lacking(agreement), enough(published)
        # The same share in every dialogue is a value without an interval: agreement of 1, above all.
        alike = agreement.lack == "no_spread" and agreement.n >= FEWEST_OPINIONS
        mean = _mean_kappa(kappas) if at is None else kappas[at].mean
        none = labels.none if at is None else labels.none[:, at]
        none = none[~np.isnan(none)]
        rows.append(
            {
                "dimension": key,
                "category": category,
                "agreement": agreement.value if alike or not note else None,
                "low": None if note else agreement.low,
                "high": None if note else agreement.high,
                "kappa": mean.value,
                "pairs": _pairs(kappas if at is None else [kappas[at]]),
                "shared": mean.n,
                "answers": none.size,
                "no_evidence": float(none.mean()) if none.size else None,
                "published": published.value if known else None,
                "published_low": published.low if known else None,
                "published_high": published.high if known else None,
                "note": note,
            }
        )
    return ReportTable(
        "beside",
        gettext_lazy("Beside alpha: percent agreement, kappa, no evidence counted as 3"),
        (
            *dimension_heading(data),
            Heading("agreement", gettext_lazy("equal scores (share)")),
            Heading("low", gettext_lazy("low")),
            Heading("high", gettext_lazy("high")),
            Heading("kappa", gettext_lazy("mean weighted kappa")),
            Heading("pairs", gettext_lazy("pairs of raters"), "count"),
            Heading("shared", gettext_lazy("scores they share"), "count"),
            Heading("answers", gettext_lazy("answers"), "count"),
            Heading("no_evidence", gettext_lazy("no evidence (share)")),
            Heading("published", gettext_lazy("alpha, no evidence as 3")),
            Heading("published_low", gettext_lazy("low, as 3")),
            Heading("published_high", gettext_lazy("high, as 3")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Equal scores, which is percent agreement: share of a dialogue's pairs of scores that are equal, "
            "where both have evidence. Kappa: quadratic weights, mean over every two raters who share two "
            "dialogues or more, weighed by what they share. Counted as 3, answers that say nothing agree "
            "with one another: alpha then says more than was heard."
        ),
    )


def _with_overall(scores: Floats) -> list[stats.AlphaInterval]:
    """Alpha of all dimensions together, then of each; ``scores``: dialogues × slots × dimensions."""
    dialogues, slots, dimensions = scores.shape
    pooled = np.moveaxis(scores, 2, 1).reshape(dialogues * dimensions, slots)
    overall = stats.alpha_interval(pooled, cluster=np.repeat(np.arange(dialogues), dimensions))
    return [overall, *stats.alpha_intervals(scores)]


def _why_no_alpha(found: stats.AlphaInterval) -> str:
    if found.alpha.value is None and found.agreement.value == 1.0:
        return _("all scores equal: alpha has no value, agreement is 1")
    return lacking(found.alpha)


def _mean_kappa(kappas: list[stats.PairwiseKappa]) -> stats.Estimate:
    """The mean over dimensions, weighed by the scores that pairs of raters share."""
    known = [(one.mean.value, one.mean.n) for one in kappas if one.mean.value is not None]
    n = sum(shared for _value, shared in known)
    if not n:
        return stats.Estimate(None, 0, lack="no_data")
    return stats.Estimate(sum(value * shared for value, shared in known) / n, n)


def _pairs(kappas: list[stats.PairwiseKappa]) -> int:
    """How many pairs of raters have a kappa on any dimension."""
    return len(
        {(one.first, one.second) for found in kappas for one in found.pairs if one.kappa.value is not None}
    )

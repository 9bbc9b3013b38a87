"""Agreement on the final choice, human or machine: percent agreement, alpha, kappa, AC1."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext_lazy

from annotation.models import Layer
from annotation.reports.given import Floats, Given, choices
from annotation.reports.parts import COUNTS, pairable, too_narrow
from studies.estimates import NOTE, enough, lacking
from studies.reports import Heading, Options, ReportTable, Tables
from turingsite import stats

#: As the scale of kappa and AC1: machine, human.
CHOICES = (0.0, 1.0)


def table(tables: Tables, data: Given, options: Options) -> ReportTable:
    """How far raters agree on human or machine, in the blind layer that choices belong to."""
    layer = Layer.RAW.value if options.layer == Layer.TRUTH_SHOWN else options.layer
    said = choices(tables, data, layer)[:, None]
    found = stats.alpha_interval(data.labels.slots(said)[:, :, 0], metric="nominal")
    by_rater = data.labels.by_rater(said)[:, :, 0]
    kappa = stats.pairwise_kappa(by_rater, weights=None)
    good, note = enough(found.agreement), lacking(found.agreement)
    among = pairable(data.labels, ~np.isnan(said))[:, 0]
    row = {
        "what": "choice",
        "n": found.agreement.n,
        "raters": np.unique(data.labels.rater[among]).size,
        "dialogues": found.agreement.items or 0,
        "agreement": found.agreement.value if good else None,
        "low": found.agreement.low if good else None,
        "high": found.agreement.high if good else None,
        "alpha": found.alpha.value if enough(found.alpha) else None,
        "alpha_low": found.alpha.low if enough(found.alpha) else None,
        "alpha_high": found.alpha.high if enough(found.alpha) else None,
        "kappa": kappa.mean.value,
        "ac1": _mean_ac1(by_rater, kappa),
        "pairs": sum(one.kappa.n >= 2 for one in kappa.pairs),
        "note": note or too_narrow(found.agreement.items or 0),
    }
    return ReportTable(
        "choice",
        gettext_lazy("Human or machine: agreement on the final choice"),
        (
            Heading("what", gettext_lazy("what"), "text", {"choice": gettext_lazy("final choice")}),
            Heading("n", gettext_lazy("choices"), "count"),
            *COUNTS[1:],
            Heading("agreement", gettext_lazy("equal choices (share)")),
            Heading("low", gettext_lazy("low")),
            Heading("high", gettext_lazy("high")),
            Heading("alpha", gettext_lazy("nominal alpha")),
            Heading("alpha_low", gettext_lazy("low, alpha")),
            Heading("alpha_high", gettext_lazy("high, alpha")),
            Heading("kappa", gettext_lazy("mean kappa")),
            Heading("ac1", gettext_lazy("mean AC1")),
            Heading("pairs", gettext_lazy("pairs of raters"), "count"),
            NOTE,
        ),
        (row,),
        gettext_lazy(
            "Over every two raters who share two dialogues or more: Cohen's kappa and Gwet's AC1, weighed by "
            "the dialogues they share. AC1 stays near percent agreement where nearly everything is one "
            "answer, where kappa falls to 0. Revised labels have no choice of their own: raters' choices are "
            "shown."
        ),
    )


def _mean_ac1(said: Floats, pairs: stats.PairwiseKappa) -> float | None:
    """AC1 of every two raters who share two dialogues, weighed by these; ``said``: dialogues × raters."""
    answers = np.stack([said == choice for choice in CHOICES]).astype(np.float64)
    tables = np.einsum("iuf,jug->fgij", answers, answers, optimize=True)
    total = weight = 0.0
    for one in pairs.pairs:
        found = stats.ac1_from_table(tables[one.first, one.second])
        if one.kappa.n >= 2 and found.value is not None:
            total, weight = total + found.value * found.n, weight + found.n
    return total / weight if weight else None

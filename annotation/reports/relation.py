"""How the score of each dimension goes with the same rater's choice, human or machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Layer
from annotation.reports.given import Given, choices
from annotation.reports.parts import COUNTS, column_of, columns_of, counts, dimension_heading
from studies.estimates import NOTE, enough, lacking
from studies.reports import Heading, Options, ReportTable, Tables
from turingsite import stats


def table(tables: Tables, data: Given, options: Options) -> ReportTable:
    """Rank correlation and AUC of every dimension, from where the rater both scored and chose."""
    layer = Layer.RAW.value if options.layer == Layer.TRUTH_SHOWN else options.layer
    chose = choices(tables, data, layer)
    labels = data.labels
    rows: list[dict[str, Any]] = []
    for key, category, at in columns_of(data):
        scores = column_of(labels.evidence, at)
        known = ~(np.isnan(scores) | np.isnan(chose))
        human = chose[known] == 1
        found = stats.superiority(scores[known], human, labels.rater[known], labels.dialogue[known])
        fewest = min(int(human.sum()), int((~human).sum()))
        note = lacking(found, fewest)
        if found.n and not fewest:
            note = _("one answer only")
        good = enough(found, fewest)
        rows.append(
            {
                "dimension": key,
                "category": category,
                **counts(labels, known),
                "said_human": float(human.mean()) if known.any() else None,
                "auc": found.value if good else None,
                "low": found.low if good else None,
                "high": found.high if good else None,
                "rho": stats.spearman(scores[known], chose[known]).value if good else None,
                "note": note,
            }
        )
    return ReportTable(
        "relation",
        gettext_lazy("How each dimension goes with the answer human or machine"),
        (
            *dimension_heading(data),
            *COUNTS,
            Heading("said_human", gettext_lazy("said human (share)")),
            Heading("auc", "AUC"),
            Heading("low", gettext_lazy("low")),
            Heading("high", gettext_lazy("high")),
            Heading("rho", gettext_lazy("rank correlation")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "AUC: chance that a score given with “human” is higher than one given with “machine”, ties half; "
            ".5: the dimension says nothing of the answer. Intervals at 95 %: raters and dialogues are both "
            "samples. Spearman's rank correlation beside it. Whoever knows the answer may score by it: this "
            "shows what goes together, not what decides."
        ),
    )

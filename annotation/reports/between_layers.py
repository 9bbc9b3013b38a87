"""Agreement between layers of labels: raters, blind experts, and what was revised with the truth in sight."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy

from annotation.models import Layer
from annotation.reports.given import Floats, Given, Labels
from annotation.reports.parts import column_of, columns_of, dimension_heading, too_narrow
from studies.estimates import NOTE, enough, lacking
from studies.reports import Heading, ReportTable
from turingsite import stats


def tables_of(data: Given) -> list[ReportTable]:
    """How far two layers' labels of the same dialogues are the same; no table with one layer alone."""
    if len(data.layers) < 2:
        return []
    rows: list[dict[str, Any]] = []
    means = {name: _dialogue_means(labels, len(data.dialogues)) for name, labels in data.layers.items()}
    for first, second in combinations(means, 2):
        both = np.stack([means[first], means[second]], axis=1)  # dialogues × layers × dimensions
        agreed = _between(both)
        for place, (key, category, at) in enumerate(columns_of(data)):
            found = agreed[place]
            moved = column_of(both[:, 1] - both[:, 0], at)
            known = np.flatnonzero(~np.isnan(moved))
            shift = stats.mean(moved[known], known, known)
            note = lacking(found)
            shown = enough(shift)
            rows.append(
                {
                    "first": first,
                    "second": second,
                    "dimension": key,
                    "category": category,
                    "dialogues": known.size,
                    "alpha": None if note else found.value,
                    "low": None if note else found.low,
                    "high": None if note else found.high,
                    "move": shift.value if shown else None,
                    "move_low": shift.low if shown else None,
                    "move_high": shift.high if shown else None,
                    "note": note or too_narrow(known.size),
                }
            )
    words = dict(Layer.choices)
    return [
        ReportTable(
            "layers",
            gettext_lazy("Between layers of labels"),
            (
                Heading("first", gettext_lazy("layer"), "text", words),
                Heading("second", gettext_lazy("other layer"), "text", words),
                *dimension_heading(data),
                Heading("dialogues", gettext_lazy("dialogues in both"), "count"),
                Heading("alpha", gettext_lazy("alpha of the means")),
                Heading("low", gettext_lazy("low")),
                Heading("high", gettext_lazy("high")),
                Heading("move", gettext_lazy("the other minus the first")),
                Heading("move_low", gettext_lazy("low, move")),
                Heading("move_high", gettext_lazy("high, move")),
                NOTE,
            ),
            tuple(rows),
            gettext_lazy(
                "Of each dialogue the mean of a layer's scores with evidence, compared where both layers "
                "have one: ordinal alpha of the means in whole steps, dialogues drawn anew 2000 times; mean "
                "move with t over dialogues."
            ),
        )
    ]


def _dialogue_means(labels: Labels, dialogues: int) -> Floats:
    """Mean score with evidence of every dialogue of the study × dimensions, NaN where there is none."""
    known = ~np.isnan(labels.evidence)
    total = np.zeros((dialogues, labels.evidence.shape[1]))
    count = np.zeros_like(total)
    np.add.at(total, labels.dialogue, np.where(known, labels.evidence, 0.0))
    np.add.at(count, labels.dialogue, known)
    mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def _between(both: Floats) -> list[stats.Estimate]:
    """Alpha of two layers' means in whole steps, of all dimensions together and of each."""
    dialogues, _two, dimensions = both.shape
    steps = np.rint(both)
    pooled = np.moveaxis(steps, 2, 1).reshape(dialogues * dimensions, 2)
    overall = stats.alpha_interval(pooled, cluster=np.repeat(np.arange(dialogues), dimensions))
    return [overall.alpha, *(one.alpha for one in stats.alpha_intervals(steps))]

"""Success by strategy: how human–machine dialogues were started, each way set against the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy

from games.speech.reports import families
from games.speech.reports.figures import COUNTS, LANGUAGE, share_row
from games.speech.reports.judged import Given, in_scope, scopes
from studies.estimates import NOTE, adjust, enough, interval_headings, possible
from studies.reports import Heading, ReportTable
from turingsite import stats


def table(data: Given) -> ReportTable:
    """Share judged human of each strategy, and its difference to that of all other strategies together."""
    judged = data.judged
    started = ~judged.is_human & ~(judged.strategy == "")
    rows: list[dict[str, Any]] = []
    for scope in scopes(data.languages):
        inside = in_scope(judged, scope) & started
        names, at = judged.strategy.among(inside), np.flatnonzero(inside)
        block: list[dict[str, Any]] = []
        for name in names:
            mask = inside & (judged.strategy == name)
            found = possible(
                stats.difference(judged.human[at], mask[at], judged.person[at], judged.dialogue[at])
            )
            n = int(mask.sum())
            good = enough(found, min(n, int(inside.sum()) - n))
            block.append(
                {
                    "language": scope,
                    "strategy": name,
                    **share_row(judged, mask, "human", "share"),
                    "others": found.value if good else None,
                    "others_low": found.low if good else None,
                    "others_high": found.high if good else None,
                    "p": stats.difference_test(found).p if good else None,
                }
            )
        adjust(block, "strategies")
        rows += block
    return ReportTable(
        "strategies",
        gettext_lazy("Success by strategy"),
        (
            LANGUAGE,
            Heading("strategy", gettext_lazy("strategy"), "text", data.names),
            *COUNTS,
            *interval_headings("share", gettext_lazy("judged human")),
            Heading("others", gettext_lazy("minus the others")),
            Heading("others_low", gettext_lazy("low, minus the others")),
            Heading("others_high", gettext_lazy("high, minus the others")),
            Heading("p", "p", "p"),
            *families.HEADINGS,
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Each strategy minus all other strategies together, two-way interval. Systems may differ in the "
            "strategies that they were started with: the difference is of both."
        ),
    )

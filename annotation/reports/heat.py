"""Mean score by dimension of each system, each language and each kind of dialogue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.reports.given import Given
from annotation.reports.levels import Mask
from annotation.reports.parts import COUNTS, HOW_TWO_WAY, column_of, columns_of, counts, dimension_heading
from dialogues.models import Kind
from studies.estimates import NOTE, cells, interval_headings
from studies.models import Language
from studies.reports import Heading, ReportTable, Tables
from turingsite import stats

HUMANS = "human"
BY = {
    "system": gettext_lazy("system"),
    "kind": gettext_lazy("kind"),
    "language": gettext_lazy("language and speaker"),
}
KINDS = {
    Kind.HUMAN_HUMAN.value: "H-H",
    Kind.HUMAN_MACHINE.value: "H-M",
    Kind.PSEUDO_HUMAN.value: "PH",
}


class Column(NamedTuple):
    """A column of the heat map: rows of the labels that it is about."""

    by: str
    key: str
    name: str
    mask: Mask


def table(tables: Tables, data: Given) -> ReportTable:
    labels = data.labels
    rows: list[dict[str, Any]] = []
    for column in _columns(tables, data):
        own = labels.where(column.mask)
        for key, category, at in columns_of(data):
            scores = column_of(own.evidence, at)
            known = ~np.isnan(scores)
            none = own.none if at is None else own.none[:, at]
            answers = int((~np.isnan(none)).sum())
            estimate = stats.mean(scores[known], own.rater[known], own.dialogue[known])
            rows.append(
                {
                    "by": column.by,
                    "key": column.key,
                    "name": column.name,
                    "dimension": key,
                    "category": category,
                    **counts(own, known),
                    **cells(within(estimate, 1.0, 5.0), "mean"),
                    "none": float(np.nansum(none)) / answers if answers else None,
                    "threes": float((scores[known] == 3).mean()) if known.any() and at is not None else None,
                }
            )
    return ReportTable(
        "by_speaker",
        gettext_lazy("Mean scores by system, kind and language"),
        (
            Heading("by", gettext_lazy("by"), "text", BY),
            Heading("key", gettext_lazy("of"), "text"),
            Heading("name", gettext_lazy("name"), "text"),
            *dimension_heading(data),
            *COUNTS,
            *interval_headings("mean", gettext_lazy("mean")),
            Heading("none", gettext_lazy("no evidence (share)")),
            Heading("threes", gettext_lazy("share of 3s")),
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


def within(estimate: stats.Estimate, low: float, high: float) -> stats.Estimate:
    """An interval cut where no value can lie; value, standard error and tests stay."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(low, estimate.low), high=min(high, estimate.high))


def _columns(tables: Tables, data: Given) -> Iterator[Column]:
    """Systems by name, then human speakers; kinds; languages where there are several, by sort of speaker."""
    dialogue = data.labels.dialogue
    is_human, is_machine = data.is_human, data.is_machine
    used = sorted(set(dialogue.tolist()))
    names = {row["system"]: row["name"] for row in tables["systems"]}

    def rows(test: list[bool]) -> Mask:
        mask: Mask = np.array(test, dtype=np.bool_)[dialogue]
        return mask

    systems = {data.about[at].system for at in used if is_machine[at] and data.about[at].system}
    for system in sorted(systems, key=lambda code: (str(names.get(code, code)).casefold(), code)):
        mask = rows([one.system == system for one in data.about])
        yield Column("system", system, str(names.get(system, system)), mask & is_machine[dialogue])
    if is_human[dialogue].any():
        yield Column("system", HUMANS, _("human speakers"), is_human[dialogue])
    for kind, label in KINDS.items():
        if any(data.about[at].kind == kind for at in used):
            yield Column("kind", label, label, rows([one.kind == kind for one in data.about]))
    languages = sorted({data.about[at].language for at in used if data.about[at].language})
    for language in languages if len(languages) > 1 else []:
        spoken = rows([one.language == language for one in data.about])
        word = str(dict(Language.choices).get(language, language))
        for key, who, of in (("human", _("human"), is_human), ("machines", _("machines"), is_machine)):
            if (spoken & of[dialogue]).any():
                yield Column("language", f"{language}:{key}", f"{word} · {who}", spoken & of[dialogue])

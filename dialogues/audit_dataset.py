"""Table ``stimulus_audits`` of the export: every figure of every audit, and what was answered to warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext_lazy as _

from dialogues.audits import asked_as, key_of
from dialogues.models import StimulusAudit
from dialogues.nuisance_report import COMPARISONS, NAMES
from studies.cells import as_stored
from studies.models import Language, Study
from studies.registry import Column, Dataset, datasets

COLUMNS = (
    Column("audit", _("fingerprint of the dialogues audited and of their processing, shortened")),
    Column("made_at", _("when it was made"), type="datetime"),
    Column("dialogues", _("dialogues that were in play"), type="integer"),
    Column("language", _("language, or all"), levels=("all", *Language.values)),
    Column("comparison", _("which kinds are set against which"), levels=tuple(one[0] for one in COMPARISONS)),
    Column("feature", _("what was measured"), levels=tuple(NAMES)),
    Column("n", _("dialogues measured"), type="integer"),
    Column("auc", _("how well it tells the kinds apart; empty where too few were measured"), type="number"),
    Column("warning", _("beyond .5 ± .15"), type="boolean"),
    Column("answer", _("why the study may open all the same, in the owner's words")),
    Column("answered_at", _("when that was written"), type="datetime"),
)


def _rows(study: Study) -> Iterator[dict[str, Any]]:
    made = StimulusAudit.objects.filter(study=study, state=StimulusAudit.State.DONE)
    for one in made.order_by("pk").prefetch_related("answers"):
        answers = {answer.key: answer for answer in one.answers.all()}
        asked = asked_as(one.result)
        for row in one.result:
            answer = answers.get(asked.get(key_of(row), ""))
            cells = {
                **{name: row[name] for name in ("language", "comparison", "feature", "n", "auc", "warning")},
                "audit": one.fingerprint[:16],
                "made_at": one.finished_at,
                "dialogues": one.dialogues,
                "answer": answer.text if answer else None,
                "answered_at": answer.answered_at if answer else None,
            }
            yield {column.name: as_stored(cells[column.name], column.type) for column in COLUMNS}


def register() -> None:
    datasets.add(
        Dataset(
            "stimulus_audits",
            _("Nuisance audits before opening, with the answers to their warnings"),
            ("dialogues.StimulusAudit", "dialogues.AuditAnswer"),
            COLUMNS,
            _rows,
            primary_key=("audit", "language", "comparison", "feature"),
        )
    )

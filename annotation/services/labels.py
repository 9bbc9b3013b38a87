"""The scores of a study as one file that ``import_scores`` takes: long, or a column for each dimension.

It names raters as the file they came from did, and dialogues as manifests do, so it stays within the team.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.datasets.parts import dimension_columns, rater_columns
from annotation.datasets.work import SCORES
from annotation.models import Layer
from annotation.services.settings import settings_of
from annotation.services.verdicts import ACTIVITY
from dialogues.datasets import rater_code
from dialogues.importing.columns import header_key
from dialogues.importing.opinions import PREFIX
from dialogues.models import Verdict
from studies import audit, sheets
from studies.export_files import whole_file
from studies.looks import state_of
from studies.models import Study
from studies.registry import Column
from studies.tidy import Made, column, dataset
from turingsite.errors import Invalid

KINDS = ("csv", "jsonl")
SILENT = "NA"
#: Columns of the scores' table that a file of labels has as well.
SHARED = (
    "layer", "repeat", "purpose", "score", "evidence", "first_score", "first_evidence", "changes",
    "exclusion", "given_at", "changed_at",
)  # fmt: skip
#: What a line of the wide form is about; its scores follow.
HEAD = (
    "dialogue", "rater", "rater_kind", "taxonomy", "taxonomy_version", "layer", "repeat", "purpose",
    "exclusion", "choice", "confidence",
)  # fmt: skip


class Exported(NamedTuple):
    """``rows`` that were written; ``left_out``: scores that the wide form has no room for."""

    rows: int
    left_out: int = 0


def name_in_files(code: str | None, recruited: str | None, machine: str | None) -> str:
    """What a rater is called in a file: as in the file they came from, else by code."""
    if recruited and recruited.startswith(PREFIX):
        return recruited.removeprefix(PREFIX)
    return rater_code(code, machine)


Choices = Mapping[tuple[int, int], tuple[str, int | None]]


def _choices(study: Study) -> Choices:
    """Final choice and confidence by rater and dialogue."""
    rows = Verdict.objects.filter(study=study, activity=ACTIVITY, repeat=0)
    columns = ("rater", "dialogue", "choice", "confidence")
    return {(rater, dialogue): (choice, sure) for rater, dialogue, choice, sure in rows.values_list(*columns)}


def _said(at: int) -> Any:
    def of(rater: int, dialogue: int, layer: str, repeat: int, choices: Choices) -> Any:
        blind = layer != Layer.TRUTH_SHOWN and repeat == 0
        return choices.get((rater, dialogue), ("", None))[at] if blind else ("", None)[at]

    return of


_OF_SCORE = ("rater", "dialogue", "layer", "repeat")
_SHARED: tuple[Made, ...] = tuple(made for name in SHARED for made in SCORES.made if made.column.name == name)

LABELS = dataset(
    "labels",
    "Scores as a file that can be imported",
    models=("annotation.Score",),
    query=SCORES.query,
    language=SCORES.language,
    primary_key=("rater", "dialogue", "taxonomy", "taxonomy_version", "dimension", "layer", "repeat"),
    columns=(
        column("dialogue", "id in the manifest", "dialogue__external_id"),
        column(
            "rater",
            "as the file called them that they came from, else their code",
            ("rater__participant__code", "rater__participant__recruiter_key", "rater__machine__sha256"),
            make=name_in_files,
        ),
        rater_columns()[1],
        *dimension_columns(),
        *_SHARED,
        column("choice", "the rater's final choice", _OF_SCORE, make=_said(0), beside=_choices),
        column(
            "confidence", "how sure they were of it", _OF_SCORE, type="integer", make=_said(1),
            beside=_choices,
        ),
    ),
)  # fmt: skip


def export_scores(
    *,
    study: Study,
    path: Path,
    wide: bool = False,
    bom: bool = False,
    user: Any = None,
    now: datetime | None = None,
) -> Exported:
    """Write the scores of ``study`` to ``path``, CSV or JSON Lines by its ending; whole or not at all.

    The wide form has one line for each rater, dialogue, layer and repeat: no history of single scores, no
    other taxonomy than the study's, and no dialogue that is scored in part. Counts as a look at outcomes.
    Invalid for another ending; OSError where the place cannot be written.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise Invalid("bad_ending", _("Let the file's name end in .csv or .jsonl."))
    now = now or timezone.now()
    with whole_file(study=study, path=path, now=now) as whole:
        columns, rows, left_out = _wide(study) if wide else (LABELS.columns, LABELS.read(study), 0)
        sheet = sheets.sheet(kind, whole.target, columns, bom=bom)
        count = 0
        for one in rows:
            sheet.write(one)
            count += 1
        sheet.close()
    with transaction.atomic():
        whole.list_it()
        audit.record(
            "study.exported", study=study, user=user, target=whole.sha256[:16], now=now, tier="internal",
            formats=[kind], files=1, by="command", n=count, **state_of(study),
        )  # fmt: skip
    return Exported(count, left_out)


class Wide(NamedTuple):
    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]
    left_out: int


def _wide(study: Study) -> Wide:
    """Lines by rater, dialogue, layer and repeat, each with every dimension of the study's taxonomy."""
    taxonomy = settings_of(study).taxonomy
    keys = list(taxonomy.dimensions.order_by("position").values_list("key", flat=True))
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    scores = 0
    for row in LABELS.read(study):
        scores += 1
        if (row["taxonomy"], row["taxonomy_version"]) != (taxonomy.name, taxonomy.version):
            continue
        key = tuple(row[name] for name in HEAD[:7])
        line = lines.setdefault(key, {**{name: row[name] for name in HEAD}, "given_at": row["given_at"]})
        line["given_at"] = min(line["given_at"], row["given_at"])
        line[header_key(row["dimension"])] = str(row["score"]) if row["evidence"] else SILENT
    names = [header_key(key) for key in keys]
    whole = [line for line in lines.values() if all(name in line for name in names)]
    known = {one.name: one for one in LABELS.columns}
    columns = (*(known[name] for name in HEAD), *(_cell(name) for name in names), known["given_at"])
    return Wide(columns, whole, scores - len(whole) * len(names))


def _cell(name: str) -> Column:
    return Column(name, f"score, {SILENT} without evidence")

"""The figures of an attempt at calibration: own scores beside the known ones, and whether that is enough."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet

from annotation.models import AnnotationSettings, Attempt, Batch, BatchItem, ReferenceScore, Score
from dialogues.models import Nature
from turingsite.stats import clear_against_truth, mean_absolute_difference, right_side_share


class Figures(NamedTuple):
    """What an attempt comes to over ``dialogues`` finished items; the fields of the same name in Attempt."""

    dialogues: int
    compared: int
    mean_difference: float | None
    clear: int
    clear_share: float | None
    against: float | None
    choices_right: int


class Compared(NamedTuple):
    """One dimension of one item: own score and known score, NaN for no evidence; whether B is human."""

    item: int
    dimension: str
    own: float
    known: float
    is_human: bool


def is_passed(figures: Figures, settings: AnnotationSettings) -> bool:
    """Both limits met, the limits themselves included. Without a score to compare nobody passes; where the
    references have no clear score, the share asks for nothing.
    """
    near = figures.mean_difference is not None and figures.mean_difference <= settings.calibration_difference
    right = figures.clear_share is None or figures.clear_share >= settings.calibration_clear
    return near and right


def running_figures(attempt: Attempt) -> Figures:
    """The figures of an attempt over what is finished by now."""
    return figures_of(compared(attempt), *choices_of(attempt))


def figures_of(rows: Iterable[Compared], dialogues: int, choices_right: int) -> Figures:
    """The figures over compared scores, by the definitions in ``turingsite.stats.ordinal``."""
    rows = list(rows)
    own = np.array([row.own for row in rows], dtype=float)
    known = np.array([row.known for row in rows], dtype=float)
    human = np.array([row.is_human for row in rows], dtype=bool)
    near = mean_absolute_difference(own, known)
    right = right_side_share(own, known)
    return Figures(
        dialogues=dialogues,
        compared=near.n,
        mean_difference=near.value,
        clear=right.n,
        clear_share=right.value,
        against=clear_against_truth(known, human).value,
        choices_right=choices_right,
    )


def compared(attempt: Attempt, batch: Batch | None = None) -> list[Compared]:
    """Own beside known scores over an attempt's finished items, or those of one ``batch``.

    By the dimension's key, so that a reference made with an earlier version of the taxonomy still counts.
    """
    items = finished_items(attempt) if batch is None else batch.items.filter(state=BatchItem.State.FINISHED)
    by_dialogue = {item.dialogue_id: item for item in items.select_related("dialogue")}
    own = {
        (item, key): float(value) if evidence else np.nan
        for item, key, value, evidence in Score.objects.filter(item__in=by_dialogue.values()).values_list(
            "item", "dimension__key", "value", "evidence"
        )
    }
    known = ReferenceScore.objects.filter(
        reference__study=attempt.annotator.participant.study_id, reference__dialogue__in=by_dialogue
    ).order_by("reference__dialogue", "dimension__position")
    rows = []
    for dialogue, key, value, evidence in known.values_list(
        "reference__dialogue", "dimension__key", "value", "evidence"
    ):
        item = by_dialogue[dialogue]
        is_human = item.dialogue.truth == Nature.HUMAN
        reference = float(value) if evidence else np.nan
        rows.append(Compared(item.pk, key, own.get((item.pk, key), np.nan), reference, is_human))
    return rows


def choices_of(attempt: Attempt) -> tuple[int, int]:
    """Finished dialogues, and how many final choices were right."""
    items = list(finished_items(attempt).select_related("dialogue"))
    return len(items), sum(item.choice == item.dialogue.truth for item in items)


def finished_items(attempt: Attempt) -> QuerySet[BatchItem]:
    return BatchItem.objects.filter(batch__attempt=attempt, state=BatchItem.State.FINISHED)

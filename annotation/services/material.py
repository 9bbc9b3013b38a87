"""Calibration material of a study: which dialogues with known scores may be played, and how many tries they
make.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.choosing import Material
from annotation.models import AnnotationSettings, ReferenceDialogue
from dialogues.models import Dialogue, Kind, Party, StudyItem
from studies.models import Study

CLEAR = Q(scores__evidence=True) & ~Q(scores__value=3)
#: A clear score that points against the truth: machine-like for a human, human-like for a machine.
AGAINST = Q(scores__evidence=True) & (
    Q(dialogue__kind=Kind.HUMAN_HUMAN, scores__value__lt=3)
    | (~Q(dialogue__kind=Kind.HUMAN_HUMAN) & Q(scores__value__gt=3))
)


class Tries(NamedTuple):
    """``dialogues`` of a language that can be used; how many ``tries`` of calibration they make."""

    dialogues: int
    tries: int


def playable_references(study: Study, role: str) -> QuerySet[ReferenceDialogue]:
    """Active references of a role whose sound may be played and which nobody took out of play."""
    silenced = Party.objects.filter(dialogue=OuterRef("dialogue")).filter(
        Q(speaker__withdrawn_at__isnull=False) | Q(speaker__may_play=False)
    )
    out_of_play = StudyItem.objects.filter(study=study, dialogue=OuterRef("dialogue"), is_active=False)
    return (
        ReferenceDialogue.objects.filter(
            study=study, role=role, is_active=True, dialogue__state=Dialogue.State.READY
        )
        .filter(Q(dialogue__recording=None) | Q(dialogue__recording__may_play=True))
        .filter(~Exists(silenced), ~Exists(out_of_play))
    )


def material_of(references: QuerySet[ReferenceDialogue]) -> list[Material]:
    """The references with their clear scores counted, in a fixed order."""
    counted = references.annotate(
        clear=Count("scores", filter=CLEAR), against=Count("scores", filter=AGAINST)
    ).order_by("dialogue")
    return [Material(*row) for row in counted.values_list("dialogue", "clear", "against")]


def for_calibration(study: Study, language: str) -> list[Material]:
    """What can be used for calibration in a language."""
    references = playable_references(study, ReferenceDialogue.Role.CALIBRATION)
    return material_of(references.filter(dialogue__language=language))


def tries_by_language(settings: AnnotationSettings) -> Mapping[str, Tries]:
    """For each language of the study: how many times one person could try, were every dialogue new to them.

    Enough is ``settings.calibration_tries`` everywhere; one is the least with which anybody can pass.
    """
    study = settings.study
    counted = dict(
        playable_references(study, ReferenceDialogue.Role.CALIBRATION)
        .values_list("dialogue__language")
        .annotate(n=Count("pk"))
    )
    return {
        language: Tries(counted.get(language, 0), counted.get(language, 0) // settings.calibration_dialogues)
        for language in study.languages
    }

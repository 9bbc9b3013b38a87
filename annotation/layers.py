"""Whose labels an analysis reads: the scores of one named layer, without those that are not analysed."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import AnnotationSettings, BatchItem, Layer, Score
from dialogues.withdrawing import of_withdrawn
from studies.models import Study

WORK = BatchItem.Purpose.WORK


def counted(to: str = "") -> Q:
    """What makes a blind score count: of finished ordinary work, or imported as such, and not left out.

    ``to``: the way to the score, as ``revises__``. Calibration, known scores and hidden repeats measure
    raters, not dialogues, so they are in no layer.
    """
    of_work = Q(
        **{
            f"{to}item__purpose": WORK,
            f"{to}item__state": BatchItem.State.FINISHED,
            f"{to}item__exclusion": "",
        }
    )
    brought = Q(**{f"{to}item__isnull": True, f"{to}purpose__in": ("", WORK), f"{to}exclusion": ""})
    return Q(**{f"{to}repeat": 0}) & (of_work | brought)


def scores_in_layer(study: Study, layer: str) -> QuerySet[Score]:
    """The scores of ``study`` in ``layer``, each rater and dimension of a dialogue once.

    Raw and blind-expert: see ``counted``. Truth-shown: what review made of a raw score that counts, and what
    was imported as truth-shown. Nothing on a recording that was withdrawn, whenever that was. The dataset of
    scores tells the same by ``purpose``, ``repeat`` and ``exclusion``.
    """
    rows = Score.objects.filter(~of_withdrawn(), study=study, layer=layer)
    if layer != Layer.TRUTH_SHOWN:
        return rows.filter(counted())
    brought = Q(revises__isnull=True, repeat=0, purpose__in=("", WORK), exclusion="")
    return rows.filter(brought | (Q(revises__isnull=False) & counted("revises__")))


def reviewed_scores(study: Study) -> QuerySet[Score]:
    """The raw scores that review is about: those that count, unless a file brought their revision too.

    Only on dimensions of the study's taxonomy: a file may bring scores of another one, which no case shows.
    """
    taxonomy = AnnotationSettings.objects.filter(study=study).values("taxonomy")
    brought = Score.objects.filter(
        study=study,
        rater=OuterRef("rater"),
        dialogue=OuterRef("dialogue"),
        dimension=OuterRef("dimension"),
        layer=Layer.TRUTH_SHOWN,
        repeat=0,
        resolution_of__isnull=True,
    )
    raw = scores_in_layer(study, Layer.RAW).filter(dimension__taxonomy__in=taxonomy)
    return raw.filter(~Exists(brought))

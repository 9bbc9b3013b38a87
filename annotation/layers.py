"""Whose labels an analysis reads: the scores of one named layer, without those that are not analysed."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q, QuerySet, Subquery
from django.db.models.fields.tuple_lookups import Tuple, TupleIn

from annotation.models import AnnotationSettings, BatchItem, Dimension, Layer, Resolution, Score
from dialogues.models import Dialogue
from dialogues.withdrawing import withdrawn
from studies.models import Study

WORK = BatchItem.Purpose.WORK
#: What a database reckons a join to cost is wrong by far while a study grows faster than its statistics, as
#: in an import. So what few rows decide on is asked for by itself (``IN`` below ``NOT`` or ``OR``, which is
#: read once and looked up in), and never joined.
KEY = ("rater", "dialogue", "dimension")


def counted(study: Study, dialogues: Collection[int] | None = None, to: str = "") -> Q:
    """What makes a blind score count: of finished ordinary work, or imported as such, and not left out.

    ``dialogues``: keys, where only their scores are read. ``to``: the way to the score, as ``revises__``.
    Calibration, known scores and hidden repeats measure raters, not dialogues, so they are in no layer.
    """
    done = BatchItem.objects.filter(
        _on(dialogues), study=study, purpose=WORK, state=BatchItem.State.FINISHED, exclusion=""
    )
    of_work = Q(**{f"{to}item__in": done.values("pk")})
    brought = Q(**{f"{to}item__isnull": True, f"{to}purpose__in": ("", WORK), f"{to}exclusion": ""})
    return Q(**{f"{to}repeat": 0}) & (of_work | brought)


def scores_in_layer(study: Study, layer: str, dialogues: Collection[int] | None = None) -> QuerySet[Score]:
    """The scores of ``study`` in ``layer``, each rater and dimension of a dialogue once.

    Raw and blind-expert: see ``counted``. Truth-shown: what review made of a raw score that counts, and what
    was imported as truth-shown. Nothing on a recording that was withdrawn, whenever that was. The dataset of
    scores tells the same by ``purpose``, ``repeat`` and ``exclusion``. ``dialogues``: keys; all without.
    """
    taken_out = Dialogue.objects.filter(state=Dialogue.State.WITHDRAWN).values("pk")
    gone = Q(dialogue__in=withdrawn()) | Q(dialogue__in=taken_out)
    rows = Score.objects.filter(_on(dialogues), ~gone, study=study, layer=layer)
    if layer != Layer.TRUTH_SHOWN:
        return rows.filter(counted(study, dialogues))
    brought = Q(revises__isnull=True, repeat=0, purpose__in=("", WORK), exclusion="")
    return rows.filter(brought | (Q(revises__isnull=False) & counted(study, dialogues, "revises__")))


def reviewed_scores(study: Study, dialogues: Collection[int]) -> QuerySet[Score]:
    """The raw scores on ``dialogues`` (keys, some hundred at most) that review is about: those that count,
    unless a file brought their revision too.

    Only on dimensions of the study's taxonomy: a file may bring scores of another one, which no case shows.
    """
    taxonomy = AnnotationSettings.objects.filter(study=study).values("taxonomy")
    dimensions = list(Dimension.objects.filter(taxonomy__in=taxonomy).values_list("pk", flat=True))
    shown = Score.objects.filter(study=study, dialogue__in=dialogues, layer=Layer.TRUTH_SHOWN, repeat=0)
    resolved = Resolution.objects.filter(case__study=study, case__dialogue__in=dialogues).values("score")
    unrevised = ~Q(TupleIn(Tuple(*KEY), Subquery(shown.values(*KEY))))
    raw = scores_in_layer(study, Layer.RAW, dialogues).filter(dimension__in=dimensions)
    return raw.filter(unrevised | Q(pk__in=resolved))


def _on(dialogues: Collection[int] | None) -> Q:
    return Q() if dialogues is None else Q(dialogue__in=dialogues)

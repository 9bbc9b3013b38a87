"""Annotators for the desk: who they are, what they did, in which time, for which pay; rows for their figures.

Nothing of a dialogue's truth is read here.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet, Sum

from annotation.models import (
    AnnotationSettings,
    Annotator,
    Attempt,
    Batch,
    BatchItem,
    Dimension,
    ReferenceScore,
    Score,
    WorkSession,
)
from annotation.rater_figures import Figures, Item, LeftOut, Sheet, figures_of, others_of
from annotation.rater_flags import Flag, flags_of
from annotation.services.queue import finished_work
from dialogues.withdrawing import of_withdrawn
from studies.models import Study
from studies.money import money
from turingsite.errors import NotFound

CENT = Decimal("0.01")
COUNTED = (BatchItem.Purpose.WORK, BatchItem.Purpose.GOLD, BatchItem.Purpose.REPEAT)


class Pay(NamedTuple):
    """Active minutes of one annotator and what they come to; ``amount`` is None where no rate is set."""

    annotator: Annotator
    minutes: float
    amount: Decimal | None
    dialogues: int

    @property
    def per_dialogue(self) -> float | None:
        return self.minutes / self.dialogues if self.dialogues else None


class Row(NamedTuple):
    """A line of the list of annotators."""

    annotator: Annotator
    attempts: list[Attempt]
    batches: int
    pay: Pay
    figures: Figures
    flags: list[Flag]


def annotators_of(study: Study) -> QuerySet[Annotator]:
    """Everybody who annotates or did; of those who had everything erased nothing is left."""
    rows = Annotator.objects.filter(participant__study=study, participant__erased_at=None)
    return rows.select_related(
        "participant__rater", "participant__study", "participant__user", "invitation"
    ).order_by("joined_at", "pk")


def access_annotator(study: Study, code: str) -> Annotator:
    """The annotator of that participant code; NotFound for nobody and for another study's."""
    found = annotators_of(study).filter(participant__code=code).first()
    if found is None:
        raise NotFound("no_annotator", "There is no such annotator in this study.")
    return found


def dimension_keys(settings: AnnotationSettings) -> list[str]:
    return list(settings.taxonomy.dimensions.order_by("position").values_list("key", flat=True))


def categories_of(settings: AnnotationSettings) -> list[tuple[str, int]]:
    """Category and position of every dimension, in the order of the taxonomy."""
    rows = settings.taxonomy.dimensions.order_by("position")
    return list(rows.values_list("category__key", "position"))


def seen_order(rows: list[tuple[str, int]], annotator: Annotator) -> list[int]:
    """Places of the dimensions as this person met them, by their own order of categories; ``rows`` from
    :func:`categories_of`.
    """
    place = {key: at for at, key in enumerate(annotator.category_order)}
    columns = [(place.get(key, len(place)), position, at) for at, (key, position) in enumerate(rows)]
    return [at for _category, _position, at in sorted(columns)]


def sheet_of(settings: AnnotationSettings) -> Sheet:
    """Every finished item of the study that shows how somebody works, with its answers."""
    items = tuple(
        Item(*row)
        for row in BatchItem.objects.filter(
            study=settings.study, state=BatchItem.State.FINISHED, purpose__in=COUNTED
        )
        .annotate(analysed=ExpressionWrapper(Q(exclusion="") & ~of_withdrawn(), BooleanField()))
        .order_by("finished_at", "pk")
        .values_list(
            "pk",
            "rater",
            "dialogue",
            "layer",
            "purpose",
            "repeat",
            "analysed",
            "active_seconds",
            "dialogue__play_duration",
            "batch__number",
            "finished_at",
        )
    )
    keys = dimension_keys(settings)
    column, line = {key: at for at, key in enumerate(keys)}, {one.pk: at for at, one in enumerate(items)}
    # By key and not by row: a study's imported scores may point to another version of the taxonomy.
    place = {pk: column[key] for pk, key in Dimension.objects.filter(key__in=keys).values_list("pk", "key")}
    answers = np.full((len(items), len(keys)), np.nan)
    # Without a join: whose items these are is known, and a planner without figures would loop over them.
    rows = Score.objects.filter(study=settings.study, item__isnull=False)
    for item, dimension, value, evidence in rows.values_list(
        "item", "dimension", "value", "evidence"
    ).iterator(chunk_size=20_000):
        if item in line and dimension in place:
            answers[line[item], place[dimension]] = value if evidence else 0.0
    return Sheet(items, answers, _references(settings.study, column), _left_out(settings.study))


def _left_out(study: Study) -> dict[int, LeftOut]:
    skipped = Q(state=BatchItem.State.SKIPPED)
    met = BatchItem.objects.filter(skipped | Q(state=BatchItem.State.FINISHED), study=study)
    rows = met.order_by().values_list("rater").annotate(left=Count("pk", filter=skipped), of=Count("pk"))
    return {rater: LeftOut(left, of) for rater, left, of in rows}


def _references(study: Study, column: dict[str, int]) -> dict[int, Any]:
    found: dict[int, Any] = defaultdict(lambda: np.full(len(column), np.nan))
    rows = ReferenceScore.objects.filter(reference__study=study, evidence=True)
    for dialogue, key, value in rows.values_list("reference__dialogue", "dimension__key", "value"):
        if key in column:
            found[dialogue][column[key]] = value
    return dict(found)


def pay_of(settings: AnnotationSettings) -> list[Pay]:
    """Active minutes and pay of every annotator; the time of calibration is paid as well."""
    study = settings.study
    seconds = dict(
        WorkSession.objects.filter(annotator__participant__study=study)
        .values_list("annotator")
        .annotate(s=Sum("active_seconds"))
        .order_by()
    )
    done: dict[int, int] = defaultdict(int)
    for annotator in BatchItem.objects.filter(study=study, state=BatchItem.State.FINISHED).values_list(
        "batch__annotator", flat=True
    ):
        done[annotator] += 1
    return [
        Pay(one, seconds.get(one.pk, 0.0) / 60, amount_of(settings, seconds.get(one.pk, 0.0)), done[one.pk])
        for one in annotators_of(study)
    ]


def amount_of(settings: AnnotationSettings, seconds: float) -> Decimal | None:
    """Pay for that much active time, to the cent; None where the study sets no rate."""
    rate = settings.rate_per_hour
    if rate is None:
        return None
    return (Decimal(str(seconds)) * rate / 3600).quantize(CENT, ROUND_HALF_UP)


def earned(annotator: Annotator, settings: AnnotationSettings) -> str:
    """What one person's active time comes to so far, with its currency; "" where no rate is set."""
    seconds = annotator.sessions.aggregate(at=Sum("active_seconds"))["at"] or 0.0
    amount = amount_of(settings, seconds)
    return "" if amount is None else money(amount, settings.study.currency)


class Total(NamedTuple):
    """``below``: an hour's pay is under the study's least. ``per_dialogue``: minutes, the raters' median."""

    minutes: float
    amount: Decimal | None
    per_dialogue: float | None
    below: bool


def total_of(settings: AnnotationSettings, pay: list[Pay]) -> Total:
    floor, rate = settings.study.pay_floor, settings.rate_per_hour
    amounts = [one.amount for one in pay if one.amount is not None]
    each = [one.per_dialogue for one in pay if one.per_dialogue]
    return Total(
        sum(one.minutes for one in pay),
        sum(amounts, Decimal(0)) if rate is not None else None,
        median(each) if each else None,
        floor is not None and (rate is None or rate < floor),
    )


def rows_of(settings: AnnotationSettings) -> list[Row]:
    """Every annotator with figures and flags."""
    sheet = sheet_of(settings)
    others, categories = others_of(sheet), categories_of(settings)
    attempts: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in Attempt.objects.filter(annotator__participant__study=settings.study).order_by("number"):
        attempts[attempt.annotator_id].append(attempt)
    batches: dict[int, int] = defaultdict(int)
    finished = finished_work(Batch.objects.filter(annotator__participant__study=settings.study))
    for annotator, _batch in finished.order_by().values_list("annotator", "pk"):
        batches[annotator] += 1
    found = []
    for pay in pay_of(settings):
        one = pay.annotator
        figures = figures_of(sheet, one.participant.rater.pk, others, seen_order(categories, one))
        found.append(Row(one, attempts[one.pk], batches[one.pk], pay, figures, flags_of(figures, settings)))
    return found

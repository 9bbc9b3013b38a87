"""Reads of an annotator's work that span tables: a finished batch, what of it counts, how much in all."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Sum
from django.utils.translation import gettext_lazy as _

from annotation.models import Annotator, Batch, BatchItem
from annotation.services.queue import finished_batches
from studies.models import Participant
from turingsite.errors import NotFound

State = BatchItem.State
AWAY = (State.SKIPPED, State.GIVEN_AWAY)  # not among the dialogues that the batch has now


def access_batch(participant: Participant, number: int) -> Batch:
    """A finished batch of this person; NotFound for open ones, too."""
    found = (
        Batch.objects.select_related("annotator")
        .filter(annotator__participant=participant, number=number, state=Batch.State.FINISHED)
        .first()
    )
    if found is None:
        raise NotFound("no_batch", _("There is no such batch here."))
    found.annotator.participant = participant
    return found


def items_that_count(batch: Batch) -> list[int]:
    """Keys of the items of ``batch`` in order, those left out apart."""
    return list(batch.items.exclude(state__in=AWAY).order_by("position").values_list("pk", flat=True))


def batch_counts(batch: Batch) -> dict[str, Any]:
    """How far a batch is. ``left_out``: known, failed, or given to somebody else; ``begun``: of those left,
    how many have scores; ``minutes`` of work; ``number`` as people count: see ``number_of``.
    """
    rows = batch.items.values_list("state").annotate(n=Count("pk")).order_by()
    states = dict(rows)
    left = states.get(State.OPEN, 0) + states.get(State.RETURNED, 0)
    begun = batch.items.filter(state__in=(State.OPEN, State.RETURNED), scores__isnull=False)
    return {
        "number": number_of(batch),
        "kind": batch.kind,
        "of": sum(n for state, n in states.items() if state not in AWAY),
        "finished": states.get(State.FINISHED, 0),
        "left": left,
        "begun": begun.distinct().count(),
        "left_out": sum(states.get(state, 0) for state in AWAY),
        "minutes": _minutes(batch.items.aggregate(at=Sum("active_seconds"))["at"]),
    }


def number_of(batch: Batch) -> int:
    """Which batch of its kind this is for its person, those in which nothing was finished apart."""
    before = batch.annotator.batches.filter(kind=batch.kind, number__lt=batch.number)
    return before.filter(items__state=State.FINISHED).distinct().count() + 1


#: What ``work_done`` says of nobody.
NOTHING_DONE = {"batches": 0, "dialogues": 0, "minutes": 0, "calibration": 0}


def work_done(annotator: Annotator) -> dict[str, int]:
    """Batches of work finished, dialogues in them, minutes in all, of those ``calibration``."""
    finished = BatchItem.objects.filter(
        batch__annotator=annotator, batch__kind=Batch.Kind.WORK, state=State.FINISHED
    )
    calibration = BatchItem.objects.filter(
        batch__annotator=annotator, batch__kind=Batch.Kind.CALIBRATION
    ).aggregate(at=Sum("active_seconds"))["at"]
    minutes = _minutes(annotator.sessions.aggregate(at=Sum("active_seconds"))["at"])
    return {
        "batches": finished_batches(annotator).count(),
        "dialogues": finished.count(),
        "minutes": minutes,
        "calibration": min(_minutes(calibration), minutes),
    }


def _minutes(seconds: float | None) -> int:
    return round((seconds or 0.0) / 60)

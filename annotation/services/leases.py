"""Batches left alone: their time runs out, what is unfinished loses its place and is offered again later."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from annotation.models import AnnotationSettings, Annotator, Batch, BatchItem
from studies.assignment import lease_end
from studies.models import Study

OVERDUE = timedelta(minutes=10)  # the sweep comes every minute
RENEWED_EVERY = timedelta(minutes=1)  # more often would be a write for nothing


@transaction.atomic
def sweep(*, now: datetime, study: Study | None = None) -> int:
    """Take back every batch whose time ran out, of one study or of all; how many.

    Whoever is sending something at this moment holds their own row: they are passed over, not waited for.
    """
    lapsed = Batch.objects.filter(state=Batch.State.OPEN, lease_until__lte=now)
    if study is not None:
        lapsed = lapsed.filter(annotator__participant__study=study)
    locked = lapsed.select_for_update(of=("annotator__participant", "self"), skip_locked=True)
    found = list(locked.select_related("annotator__participant"))
    for batch in found:
        take_back(batch)
    return len(found)


def overdue(now: datetime) -> int:
    """Batches whose time ran out long ago and that no sweep took back: their places wait for nobody."""
    return Batch.objects.filter(state=Batch.State.OPEN, lease_until__lt=now - OVERDUE).count()


def take_back(batch: Batch) -> None:
    """Free the places of what is unfinished. Callers hold the person's row. Scores given so far stay."""
    batch.state = Batch.State.RETURNED
    batch.save(update_fields=["state"])
    batch.items.filter(state=BatchItem.State.OPEN).update(state=BatchItem.State.RETURNED, place=None)


def renew(batch: Batch, settings: AnnotationSettings, *, now: datetime) -> None:
    """A sign of work: the time of an open batch begins anew. Callers hold the person's row."""
    until = lease_end(now, settings.lease_minutes)
    if batch.state == Batch.State.OPEN and until - batch.lease_until >= RENEWED_EVERY:
        Batch.objects.filter(pk=batch.pk, state=Batch.State.OPEN).update(lease_until=until)
        batch.lease_until = until


@transaction.atomic
def leave(annotator: Annotator) -> None:
    """Free at once what somebody who withdrew had in hand."""
    for batch in annotator.batches.filter(state=Batch.State.OPEN).select_for_update():
        take_back(batch)

"""How the annotation of one study goes at this moment, in counts: who works, what was scored, what failed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet

from annotation.models import BatchItem, WorkSession
from studies.models import Study

WORKING = timedelta(minutes=10)  # since the last sign of somebody who works
RECENT = timedelta(hours=1)


class Live(NamedTuple):
    """Counts of people and of dialogues, test participants left out; all but ``working`` of the last hour."""

    working: int
    finished: int
    served: int
    failed: int


def at_work(now: datetime) -> QuerySet[WorkSession]:
    """The sessions of people who gave a sign of work in the last ten minutes."""
    return WorkSession.objects.filter(ended_at__isnull=True, last_at__gte=now - WORKING)


def live_of(study: Study, *, now: datetime) -> Live:
    since = now - RECENT
    own = BatchItem.objects.filter(study=study, batch__annotator__participant__is_test=False)
    recent = own.filter(Q(opened_at__gte=since) | Q(finished_at__gte=since)).aggregate(
        finished=Count("pk", filter=Q(finished_at__gte=since)),
        served=Count("pk", filter=Q(opened_at__gte=since)),
        failed=Count("pk", filter=Q(opened_at__gte=since) & ~Q(failure="")),
    )
    people = at_work(now).filter(annotator__participant__study=study, annotator__participant__is_test=False)
    return Live(working=people.count(), **recent)

"""Work that waits as rows, by kind: how much there is and since when."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Min, QuerySet

from dialogues.models import ImportBatch, ProcessingJob


class Unfinished(NamedTuple):
    """``number`` jobs of ``kind`` wait or run; the ``oldest`` was asked for so many seconds ago."""

    kind: str
    number: int
    oldest: float


def kinds() -> dict[str, QuerySet[Any]]:
    """The unfinished rows of every kind of job."""
    return {
        "processing": ProcessingJob.objects.filter(
            state__in=(ProcessingJob.State.QUEUED, ProcessingJob.State.RUNNING)
        ),
        "import": ImportBatch.objects.filter(state__in=(ImportBatch.State.QUEUED, ImportBatch.State.RUNNING)),
    }


def unfinished(now: datetime) -> list[Unfinished]:
    found = []
    for kind, rows in kinds().items():
        row = rows.order_by().aggregate(n=Count("pk"), since=Min("created_at"))
        oldest = (now - row["since"]).total_seconds() if row["since"] else 0.0
        found.append(Unfinished(kind, row["n"], max(0.0, oldest)))
    return found

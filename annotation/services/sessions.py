"""Time at work: stretches without a long gap, seconds that count, the offer of a break."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction

from annotation.models import AnnotationSettings, Annotator, WorkSession
from annotation.services.items import locked_annotator
from studies.models import Participant
from studies.prepared import Prepared

GAP = timedelta(minutes=30)  # after so long without a sign, what comes is another session
OFFERED = 300.0  # seconds of work for which an offer stands; then it is made again a stretch later

_OPEN = Prepared(
    lambda annotator: WorkSession.objects.filter(annotator=annotator, ended_at__isnull=True), annotator=-1
)


class Touched(NamedTuple):
    """``seconds`` of work that a sign adds; ``rest``: a break is offered."""

    seconds: float
    rest: bool


def touch(
    annotator: Annotator, settings: AnnotationSettings, now: datetime, seconds: float | None = None
) -> Touched:
    """A sign of work. Callers hold the person's row.

    What lies between two signs counts, at most ``idle_seconds``; ``seconds`` is what the page counted, which
    can only make it less. The first sign of a session adds nothing.
    """
    session = _OPEN.get(annotator=annotator.pk)
    if session is not None and now - session.last_at >= GAP:
        WorkSession.objects.filter(pk=session.pk).update(ended_at=session.last_at)
        session = None
    if session is None:
        WorkSession.objects.create(annotator=annotator, started_at=now, last_at=now)
        return Touched(0.0, rest=False)
    between = max((now - session.last_at).total_seconds(), 0.0)  # a clock may have been set back
    added = min(between, settings.idle_seconds, between if seconds is None else max(seconds, 0.0))
    before, after = session.since_break, session.since_break + added
    changed: dict[str, Any] = {
        "last_at": now,
        "active_seconds": session.active_seconds + added,
        "since_break": after,
    }
    every = settings.break_minutes * 60
    if every and before // every < after // every:
        changed["breaks_offered"] = session.breaks_offered + 1
    WorkSession.objects.filter(pk=session.pk).update(**changed)
    return Touched(added, rest=bool(every) and after >= every and after % every < OFFERED)


@transaction.atomic
def take_break(*, participant: Participant, now: datetime) -> None:
    """The person rests: the stretch of work begins anew. Asked again without work in between: nothing."""
    annotator = locked_annotator(participant, now)
    session = _OPEN.get(annotator=annotator.pk)
    if session is not None and session.since_break > 0:
        changed = {"since_break": 0.0, "breaks_taken": session.breaks_taken + 1}
        WorkSession.objects.filter(pk=session.pk).update(**changed)

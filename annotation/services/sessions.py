"""Time at work: stretches without a long gap, seconds that count, the offer of a break."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction

from annotation.models import AnnotationSettings, Annotator, WorkSession
from annotation.services.items import locked_annotator
from studies.models import Participant
from studies.prepared import Prepared, PreparedUpdate

GAP = timedelta(minutes=30)  # after so long without a sign, what comes is another session
OFFERED = 300.0  # seconds of work for which an offer stands; then it is made again a stretch later

_OPEN = Prepared(
    lambda annotator: WorkSession.objects.filter(annotator=annotator, ended_at__isnull=True), annotator=-1
)


class Touched(NamedTuple):
    """``seconds`` of work that a sign adds; ``rest``: a break is offered."""

    seconds: float
    rest: bool


_WORKED = PreparedUpdate(
    WorkSession, "last_at", "active_seconds", "since_break", "breaks_offered", guard="last_at"
)


def open_session(annotator: Annotator) -> WorkSession | None:
    return _OPEN.get(annotator=annotator.pk)


def touch(
    annotator: Annotator,
    session: WorkSession | None,
    settings: AnnotationSettings,
    now: datetime,
    seconds: float | None = None,
) -> Touched:
    """A sign of work. Callers hold the person's row and have read the open ``session``, perhaps just before.

    What lies between two signs counts, at most ``idle_seconds``; ``seconds`` is what the page counted, which
    can only make it less. The first sign of a session adds nothing.
    """
    touched = session and _worked(session, settings, now, seconds)
    if touched is None:  # there is none, it is over, or another request changed it while this one waited
        session = open_session(annotator)
        touched = session and _worked(session, settings, now, seconds)
    if touched is None:
        if session is not None:
            WorkSession.objects.filter(pk=session.pk).update(ended_at=session.last_at)
        WorkSession.objects.create(annotator=annotator, started_at=now, last_at=now)
    return touched or Touched(0.0, rest=False)


def _worked(
    session: WorkSession, settings: AnnotationSettings, now: datetime, seconds: float | None
) -> Touched | None:
    """Go on with ``session``; None where it is over, or no longer as it was read."""
    if now - session.last_at >= GAP:
        return None
    between = max((now - session.last_at).total_seconds(), 0.0)  # a clock may have been set back
    added = min(between, settings.idle_seconds, between if seconds is None else max(seconds, 0.0))
    every = settings.break_minutes * 60
    before, after = session.since_break, session.since_break + added
    offered = session.breaks_offered + (bool(every) and before // every < after // every)
    active = session.active_seconds + added
    if not _WORKED.write(session.pk, now, active, after, offered, was=session.last_at):
        return None
    return Touched(added, rest=bool(every) and after >= every and after % every < OFFERED)


@transaction.atomic
def take_break(*, participant: Participant, now: datetime) -> None:
    """The person rests: the stretch of work begins anew. Asked again without work in between: nothing."""
    annotator = locked_annotator(participant, now)
    session = open_session(annotator)
    if session is not None and session.since_break > 0:
        changed = {"since_break": 0.0, "breaks_taken": session.breaks_taken + 1}
        WorkSession.objects.filter(pk=session.pk).update(**changed)

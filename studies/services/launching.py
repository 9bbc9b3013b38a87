"""The soft launch: the first people of a study, then a pause for a look at how it went, not at outcomes."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from studies import audit
from studies.models import AuditLine, Participant, Study
from studies.selectors import counts_as_done, soft_launched

WHY = "soft_launch"


class Stretch(NamedTuple):
    """When the soft launch ran: from ``start`` up to ``end``; ``None`` leaves that side open."""

    start: datetime | None
    end: datetime | None

    def has(self, at: datetime) -> bool:
        return (self.start is None or at >= self.start) and (self.end is None or at < self.end)


def note_done(*, participant: Participant, now: datetime | None = None) -> bool:
    """Count somebody who has done enough to count as done; True where the study paused because of it.

    Cheap outside of a soft launch. People of tests and pilots are not counted, nobody is counted twice, and
    whoever is in the middle keeps their place.
    """
    apart = participant.is_test or participant.is_pilot or participant.in_soft_launch
    if participant.study.status != Study.Status.SOFT_LAUNCH or apart or not counts_as_done(participant):
        return False
    with transaction.atomic():
        if not Participant.objects.filter(pk=participant.pk, in_soft_launch=False).update(
            in_soft_launch=True
        ):
            return False
        participant.in_soft_launch = True
        # Counting and pausing are one step: of many who finish at once, the last to get the lock sees them
        # all. The lock leaves keys alone: rows that point to the study go on being written.
        study = Study.objects.select_for_update(no_key=True).get(pk=participant.study_id)
        n = soft_launched(study)
        if study.status != Study.Status.SOFT_LAUNCH or n < study.soft_launch_n:
            return False
        Study.objects.filter(pk=study.pk).update(status=Study.Status.PAUSED)
        audit.record(
            "study.status",
            study=study,
            target=study.slug,
            now=now or timezone.now(),
            was=Study.Status.SOFT_LAUNCH,
            now_is=Study.Status.PAUSED,
            why=WHY,
            people=n,
        )
    return True


def paused_by_soft_launch(study: Study) -> bool:
    """Whether ``study`` pauses because its soft launch is through."""
    if study.status != Study.Status.PAUSED:
        return False
    last = study.audit_lines.filter(action="study.status").order_by("-pk").first()
    return last is not None and last.detail.get("why") == WHY


def stretches_of(study: Study) -> list[Stretch]:
    """When the soft launch of ``study`` ran, by its trail; it may have been paused in between."""
    running = Study.Status.SOFT_LAUNCH
    found: list[Stretch] = []
    start: datetime | None = None
    lines = AuditLine.objects.filter(study=study, action="study.status").order_by("pk")
    for line in lines:
        if line.detail.get("was") == running:
            found.append(Stretch(start, line.at))
        start = line.at
    if study.status == running:
        found.append(Stretch(start, None))
    return found


def people_of_launch(study: Study) -> QuerySet[Participant]:
    """Whoever joined while the soft launch ran, through or not, and whoever it counted."""
    asked = Q(in_soft_launch=True)
    for one in stretches_of(study):
        inside = Q(pk__isnull=False)
        if one.start is not None:
            inside &= Q(joined_at__gte=one.start)
        if one.end is not None:
            inside &= Q(joined_at__lt=one.end)
        asked |= inside
    return Participant.objects.filter(asked, study=study)

"""How much may be left out as known or failing: a bad connection waits, and nobody chooses what they are
measured on.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from annotation.models import AnnotationSettings, Annotator, Batch, BatchItem
from turingsite.errors import Conflict

FAILURES = 6
FAILURES_WITHIN = timedelta(minutes=10)


def fails_often(annotator: Annotator, now: datetime) -> bool:
    """Whether many dialogues failed just now: the connection is bad, and more would only be used up."""
    failed = BatchItem.objects.filter(batch__annotator=annotator, state=BatchItem.State.SKIPPED)
    recent = failed.exclude(failure="").filter(opened_at__gt=now - FAILURES_WITHIN)
    return recent.count() >= FAILURES


def refuse_more(batch: Batch, settings: AnnotationSettings, *, known: bool) -> None:
    """In calibration others come for as many as a batch has, in each attempt. Conflict ``left_out_enough``
    beyond that: the dialogue stays.
    """
    if batch.kind != Batch.Kind.CALIBRATION:
        return
    skipped = BatchItem.objects.filter(batch__attempt=batch.attempt_id, state=BatchItem.State.SKIPPED)
    if skipped.count() < settings.batch_size:
        return
    if known:
        words = _("You have left out as many as calibration can replace. Please score this one all the same.")
    else:
        words = _("You have left out as many as calibration can replace. Come back later; this one waits.")
    raise Conflict("left_out_enough", words)

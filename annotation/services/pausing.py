"""Pausing a single annotator, with words that this person reads; and letting them go on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Annotator
from studies import audit
from turingsite.errors import Conflict, Invalid

LONGEST = 300


def reason_of(typed: str) -> str:
    """The words on one line. Invalid, at the field ``reason``, where there are none or too many."""
    reason = " ".join(typed.split())
    fault = ""
    if not reason:
        fault = _("Say why, in a few words.")
    elif len(reason) > LONGEST:
        fault = _("At most %(n)s characters.") % {"n": LONGEST}
    if fault:
        raise Invalid("bad_reason", _("A reason is needed."), fields={"reason": fault})
    return reason


def locked(annotator: Annotator) -> Annotator:
    """The row as it is now, held until the end of the transaction, with that of the person: what they finish
    at this moment comes before or after, never in between.
    """
    rows = Annotator.objects.select_for_update(of=("participant", "self"))
    return rows.select_related("participant__study").get(pk=annotator.pk)


@transaction.atomic
def pause(*, annotator: Annotator, reason: str, user: Any = None, now: datetime | None = None) -> Annotator:
    """The person gets no further dialogue and reads ``reason``; a later one replaces it. Scores stay."""
    words = reason_of(reason)
    row = locked(annotator)
    new = row.paused_at is None
    row.paused_at = row.paused_at or now or timezone.now()
    row.paused_by, row.paused_reason = user, words
    row.save(update_fields=["paused_at", "paused_by", "paused_reason"])
    if new:
        audit.record("annotator.paused", study=row.participant.study, user=user, target=row.participant.code)
    return row


@transaction.atomic
def resume(*, annotator: Annotator, user: Any = None) -> Annotator:
    """The person may go on. Conflict ``set_aside`` while their scores are left out, as new ones would be."""
    row = locked(annotator)
    if row.set_aside_at is not None:
        raise Conflict("set_aside", _("Take the scores back in first, then let the person go on."))
    if row.paused_at is not None:
        row.paused_at, row.paused_by, row.paused_reason = None, None, ""
        row.save(update_fields=["paused_at", "paused_by", "paused_reason"])
        audit.record("annotator.resumed", study=row.participant.study, user=user, target=row.participant.code)
    return row

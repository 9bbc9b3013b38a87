"""“Report”: what somebody finds wrong reaches staff and nobody else."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from games.room.models import Concern, Event, Seat
from studies.characters import cleaned
from turingsite.errors import NotFound, TryLater

LONGEST = 500
AT_MOST = 30  # by one seat


@transaction.atomic
def raise_concern(*, seat: Seat, event_seq: int | None, text: str = "", now: datetime) -> Concern:
    """Keep a report of a message by its number, or of the room in general (None). Sent twice, kept once."""
    event = None
    if event_seq is not None:
        event = Event.objects.messages().filter(room=seat.room_id, seq=event_seq).first()
        if event is None:
            raise NotFound("no_message", _("There is no such message."))
    text = cleaned(text).strip()[:LONGEST]
    Seat.objects.select_for_update(no_key=True).get(pk=seat.pk)  # the same twice at once waits here
    own = Concern.objects.filter(seat=seat)
    known = own.filter(event=event, text=text).first()
    if known is not None:
        return known
    if own.count() >= AT_MOST:
        raise TryLater("too_many", _("You have reported a lot. We are looking at it."), status=429)
    return Concern.objects.create(room_id=seat.room_id, seat=seat, event=event, text=text, at=now)

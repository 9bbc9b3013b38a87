"""The room's row and its numbered log: hold the row, write a line, tell it after the commit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from games.room import hub
from games.room.models import Event, Room, Seat
from turingsite.errors import Gone, NotFound


def hold(room_id: int) -> Room:
    """The room, its row held until the caller's transaction ends; NotFound ``no_room``.

    Written and not only locked: a message that was checked while somebody held the room sees by the row's
    version that it has to be checked again (``sending``).
    """
    if not Room.objects.filter(pk=room_id).update(last_seq=F("last_seq")):
        raise NotFound("no_room", _("There is no such room."))
    return Room.objects.select_related("study").get(pk=room_id)


def deadline_after(now: datetime, seconds: float | None) -> datetime | None:
    """When a phase of so many seconds ends; None where the rules end it."""
    return None if seconds is None else now + timedelta(seconds=seconds)


def turn(room: Room, **fields: Any) -> None:
    """Begin the room's next phase with these fields. Callers hold the room. Gone ``room_closed``.

    By the row and not by the object at hand, which may have been read before somebody else turned it.
    """
    turned = Room.objects.live().filter(pk=room.pk)
    if not turned.update(phase_number=F("phase_number") + 1, **fields):
        raise Gone("room_closed", _("This game is over."))
    room.refresh_from_db(fields=["phase_number", *fields])


@transaction.atomic
def append(
    *,
    room: Room,
    kind: str,
    seat: Seat | None = None,
    text: str = "",
    data: Mapping[str, Any] | None = None,
    now: datetime,
) -> Event:
    """Write the next line of the log; everybody in the room is told once it is committed.

    Its time is never before that of the line above it.
    """
    Room.objects.filter(pk=room.pk).update(last_seq=F("last_seq") + 1)
    room.last_seq = Room.objects.values_list("last_seq", flat=True).get(pk=room.pk)
    above = Event.objects.filter(room=room, seq=room.last_seq - 1).values_list("at", flat=True).first()
    event = Event.objects.create(
        room=room,
        seq=room.last_seq,
        kind=kind,
        seat=seat,
        round=room.round,
        phase=room.phase,
        text=text,
        length=len(text),
        at=max(now, above or now),
        data=dict(data or {}),
    )
    transaction.on_commit(partial(hub.announce, room.pk, event.seq, event))
    return event

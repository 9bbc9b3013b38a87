"""Reads of rooms: a person's own seat (the one door to it), the log after a number, who is there."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _

from dialogues.models import Nature
from games.room.models import Event, Room, Seat
from studies.models import Participant
from turingsite.errors import NotFound

PRESENT_SECONDS = 20  # without a sign of an open page; pages give one every few seconds


def access_seat(participant: Participant, room_code: str | None = None) -> Seat:
    """The person's seat in that room, or their newest one; NotFound ``no_seat`` otherwise."""
    seats = Seat.objects.filter(participant=participant).select_related("room__study")
    if room_code is not None:
        seats = seats.filter(room__code=room_code)
    seat = seats.order_by("-room__opened_at", "-pk").first()
    if seat is None:
        raise NotFound("no_seat", _("You have no seat in such a room."))
    return seat


def events_after(room_id: int, seq: int, limit: int = 500) -> list[Event]:
    """The lines after number ``seq``, in order, each with its seat."""
    found = Event.objects.filter(room=room_id, seq__gt=seq).select_related("seat")
    return list(found.order_by("seq")[:limit])


def rooms_overdue(now: datetime) -> list[tuple[int, int]]:
    """Rooms whose phase should have ended, the longest overdue first: (key, number of the phase)."""
    due = Room.objects.live().filter(deadline__lte=now).order_by("deadline")
    return list(due.values_list("pk", "phase_number"))


def is_present(seat: Seat, now: datetime) -> bool:
    """Whether the seat counts as there: a machine always, a person while their page gives signs."""
    if seat.left_at is not None:
        return False
    if seat.nature == Nature.MACHINE:
        return True
    return seat.seen_at is not None and now - seat.seen_at <= timedelta(seconds=PRESENT_SECONDS)

"""All that a player's page gets of a room: one shape for every seat, nothing that tells who is behind it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone

from games.room.models import Event, Room, Seat
from games.room.rules import rules_of


class Speaker(NamedTuple):
    code: str


class Spoken(NamedTuple):
    """A message that was just stored, with what its frame needs of its line. A row of the model costs more to
    make than all else that is done for a message.
    """

    seq: int
    round: int
    phase: str
    at: datetime
    seat: Speaker
    text: str
    kind: str = Event.Kind.MESSAGE.value

    @property
    def data(self) -> dict[str, Any]:
        return {}


def event_frame(event: Event | Spoken) -> dict[str, Any]:
    """One line of the log as every player gets it. Its seat must be at hand."""
    return {
        "type": "event",
        "seq": event.seq,
        "kind": event.kind,
        "round": event.round,
        "phase": event.phase,
        "at": event.at.isoformat(),
        "seat": event.seat.code if event.seat is not None else None,
        "text": event.text,
        "data": event.data,
    }


def room_state(seat: Seat, now: datetime | None = None) -> dict[str, Any]:
    """What the seat's page shows beside the log; read anew, with the seconds left at this moment."""
    now = now or timezone.now()
    room = Room.objects.select_related("study").get(pk=seat.room_id)
    seats = list(room.seats.order_by("position"))
    own = next(one for one in seats if one.pk == seat.pk)
    for one in seats:
        one.room = room
    rules = rules_of(room)
    is_out, is_closed = own.out_at is not None, room.closed_at is not None
    return {
        "type": "state",
        "room": room.code,
        "game": room.game,
        "phase": room.phase,
        "phase_number": room.phase_number,
        "round": room.round,
        "writable": room.writable,
        "remaining": remaining(room, now),
        "last_seq": room.last_seq,
        "max_length": room.max_length,
        "typing": room.typing,
        "closed": is_closed,
        "you": {
            "seat": own.code,
            "out": is_out,
            "may_write": room.writable and not is_out and own.left_at is None and not is_closed,
            "may_read": rules.may_read(own),
        },
        "seats": [
            {
                "seat": one.code,
                "name": one.pseudonym,
                "out": one.out_at is not None,
                "out_round": one.out_round,
            }
            for one in seats
        ],
        "play": dict(rules.state(own)),
    }


def remaining(room: Room, now: datetime) -> float | None:
    """Seconds until the phase ends, never below nought; None where it has no end of its own."""
    if room.deadline is None:
        return None
    return max(0.0, round((room.deadline - now).total_seconds(), 3))

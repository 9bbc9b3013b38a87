"""Seats: who is there, who has left, who was voted out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q

from games.room import hub
from games.room.models import Event, Room, Seat
from games.room.rules import rules_of
from games.room.services.log import append, hold
from studies import audit

NOTED_EVERY = timedelta(seconds=4)  # more often would be a write for nothing


def note_seen(*, seat_ids: Collection[int], now: datetime) -> int:
    """These seats' pages gave a sign; how many rows were written. Kept to some seconds."""
    stale = Q(seen_at=None) | Q(seen_at__lt=now - NOTED_EVERY)
    with transaction.atomic():
        # In one order and past what somebody else holds: two processes never wait for each other here.
        rows = Seat.objects.filter(stale, pk__in=seat_ids).order_by("pk")
        held = rows.select_for_update(skip_locked=True, no_key=True)
        return Seat.objects.filter(pk__in=list(held.values_list("pk", flat=True))).update(seen_at=now)


@transaction.atomic
def leave_seat(*, seat: Seat, why: str, user: Any = None, now: datetime) -> bool:
    """The person is gone for good (``Seat.Left``); whether this call noted it. The others are never told.

    When a game is over nobody leaves it any more. With ``user``, a line of the audit trail.
    """
    room = hold(seat.room_id)
    fresh = room.seats.get(pk=seat.pk)
    if room.closed_at is not None or fresh.left_at is not None:
        return False
    fresh.left_at, fresh.left_why = now, why
    fresh.save(update_fields=["left_at", "left_why"])
    seat.left_at, seat.left_why = fresh.left_at, fresh.left_why
    if user is not None:
        audit.record("seat.removed", study=room.study, user=user, target=room.code, now=now, why=why)
    transaction.on_commit(partial(hub.dismiss, room.pk, fresh.code))
    fresh.room = room
    rules_of(room).left(fresh, now)
    return True


@transaction.atomic
def put_out(*, room: Room, seat: Seat, data: Mapping[str, Any], now: datetime) -> Event:
    """The seat is voted out in the room's round, with the line ``out``. Callers hold the room."""
    seat.out_at, seat.out_round = now, room.round
    seat.save(update_fields=["out_at", "out_round"])
    return append(room=room, kind=Event.Kind.OUT, seat=seat, data=data, now=now)

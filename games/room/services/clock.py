"""Phases and their deadlines: whoever notices first that time is up moves the room on, once."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from games.room.models import Event, Room
from games.room.rules import rules_of
from games.room.selectors import rooms_overdue
from games.room.services.log import append, deadline_after, hold, turn
from studies import audit
from turingsite.errors import Conflict, gettext_noop


@transaction.atomic
def set_phase(
    *,
    room: Room,
    phase: str,
    seconds: float | None,
    writable: bool,
    round: int | None = None,
    data: Mapping[str, Any] | None = None,
    now: datetime,
) -> Event:
    """Begin a phase of so many seconds (None: until the rules end it). Callers hold the room."""
    turn(
        room,
        phase=phase,
        round=room.round if round is None else round,
        writable=writable,
        phase_started_at=now,
        deadline=deadline_after(now, seconds),
    )
    return append(room=room, kind=Event.Kind.PHASE, data={"seconds": seconds, **(data or {})}, now=now)


@transaction.atomic
def advance(*, room_id: int, phase_number: int, now: datetime, by_hand: bool = False) -> bool:
    """End that phase if its time is up, or in any case ``by_hand``; whether this call did it."""
    room = hold(room_id)
    if room.closed_at is not None or room.phase_number != phase_number:
        return False
    if not by_hand and (room.deadline is None or room.deadline > now):
        return False
    rules_of(room).phase_over(room, now)
    return True


def sweep(now: datetime) -> int:
    """Move every room on whose time is up; how many. A room that cannot keeps no other waiting."""
    moved = 0

    def move(room_id: int, phase_number: int) -> None:
        nonlocal moved
        moved += advance(room_id=room_id, phase_number=phase_number, now=now)

    with (
        ExitStack() as all_of_them
    ):  # calls each of them, the last first, and raises what went wrong at the end
        for room_id, phase_number in reversed(rooms_overdue(now)):
            all_of_them.callback(move, room_id, phase_number)
    return moved


@transaction.atomic
def extend(*, room: Room, seconds: int, user: Any, seen: datetime | None = None, now: datetime) -> Event:
    """Give the phase so many more seconds; everybody sees it. ``seen``: the deadline that is to be moved, so
    that a double click, or two people at once, move it once: Conflict ``moved_on`` where it is another one by
    now. Conflict ``no_clock`` where none runs.
    """
    room = hold(room.pk)
    if seen is not None and room.deadline != seen:
        raise Conflict("moved_on", gettext_noop("The clock has changed meanwhile. Look at it again."))
    if room.deadline is None:
        raise Conflict("no_clock", gettext_noop("No clock is running that could be given more time."))
    room.deadline = max(room.deadline, now) + timedelta(seconds=seconds)
    room.save(update_fields=["deadline"])
    audit.record("room.extended", study=room.study, user=user, target=room.code, now=now, seconds=seconds)
    return append(room=room, kind=Event.Kind.NOTICE, data={"notice": "extended", "seconds": seconds}, now=now)

"""What sockets are told, read from rows and encoded once: lines, states, clocks, who is no longer there."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q

from games.room.models import Event, Room, Seat
from games.room.presenters import Spoken, event_frame, room_state
from games.room.selectors import events_after

PAGE = 500  # lines read at once


class Line(NamedTuple):
    """A line of the log as it goes to pages. ``text``: its frame."""

    seq: int
    is_message: bool
    text: str


class StateOf(NamedTuple):
    """A seat's state as it goes to its page, and what of it the server keeps to."""

    text: str
    last_seq: int
    may_read: bool
    may_write: bool
    typing: bool


class RoomNow(NamedTuple):
    last_seq: int
    phase_number: int
    deadline: datetime | None
    lines: list[Line]  # those the process had not


def encoded(frame: Mapping[str, Any]) -> str:
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"))


def line_of(event: Event | Spoken) -> Line:
    return Line(event.seq, event.kind == Event.Kind.MESSAGE, encoded(event_frame(event)))


def lines_after(room_id: int, seq: int) -> list[Line]:
    return [line_of(event) for event in events_after(room_id, seq, PAGE)]


def states_of(seat_ids: Collection[int]) -> dict[int, StateOf]:
    """By seat; those that are not there any more are left out."""
    return {seat.pk: state_of(seat) for seat in Seat.objects.filter(pk__in=seat_ids)}


def state_of(seat: Seat) -> StateOf:
    frame = room_state(seat)
    you = frame["you"]
    return StateOf(encoded(frame), frame["last_seq"], you["may_read"], you["may_write"], frame["typing"])


def rooms_now(known: Mapping[int, int]) -> dict[int, RoomNow]:
    """How rooms stand, by key; ``known``: the newest number the process has of each."""
    rows = Room.objects.filter(pk__in=known).values_list("pk", "last_seq", "phase_number", "deadline")
    return {
        pk: RoomNow(last, number, deadline, lines_after(pk, known[pk]) if last > known[pk] else [])
        for pk, last, number, deadline in rows
    }


def no_longer_there(seat_ids: Collection[int]) -> set[int]:
    """Those of the seats whose person has left, was removed or withdrew."""
    gone = Q(left_at__isnull=False) | Q(participant__withdrawn_at__isnull=False)
    gone |= Q(participant__erased_at__isnull=False)
    return set(Seat.objects.filter(gone, pk__in=seat_ids).values_list("pk", flat=True))

"""Tells whoever listens in this process that a room's log has grown. The rows are the truth."""

from __future__ import annotations

from collections.abc import Callable

from games.room.models import Event

#: Called in the thread that committed: the room's key, the newest number, the line itself where it is at hand
#: (``event.seat`` set, its key not).
Listener = Callable[[int, int, Event | None], None]

listeners: list[Listener] = []


def announce(room_id: int, last_seq: int, event: Event | None = None) -> None:
    """The log has grown up to ``last_seq``. Called after the commit, from any thread."""
    for listener in listeners:
        listener(room_id, last_seq, event)


def dismiss(room_id: int, seat_code: str) -> None:
    """The seat's person has left or was removed: their open pages are sent on."""

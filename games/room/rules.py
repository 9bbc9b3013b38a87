"""What a game says to the room it is played in; each game adds its rules once, when its app starts.

The room keeps seats, clock and log for any game and knows none of them: what it cannot know it asks here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from games.room.models import Room, Seat
from studies.registry import Registry


@dataclass(frozen=True)
class Rules:
    """``key``: the value of ``Room.game``.

    ``phase_over(room, now)``: the phase's time has come (or it was ended by hand); moves the room on by
    ``services.set_phase`` or ``close_room``. Runs in the transaction that holds the room's row.
    ``state(seat)``: what this seat's page gets beside the room's own state, in one shape for all seats.
    ``act(seat, action, data, now)``: what players do beside writing, as voting; returns what the sender is
    told. Raises DomainError where it may not be. Sent twice, it is done once.
    ``may_read(seat)``: whether the seat still gets the log (not who is out where nobody watches).
    ``left(seat, now)``: the seat's person has left, was removed or counts as gone; room held as above.
    """

    key: str
    phase_over: Callable[[Room, datetime], None]
    state: Callable[[Seat], Mapping[str, Any]]
    act: Callable[[Seat, str, Mapping[str, Any], datetime], Mapping[str, Any]]
    may_read: Callable[[Seat], bool]
    left: Callable[[Seat, datetime], None]


rules: Registry[Rules] = Registry("rules of a game")


def rules_of(room: Room) -> Rules:
    return rules.get(room.game)

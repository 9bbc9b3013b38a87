"""All that writes rooms. Who changes more than their own line holds the room's row first (``hold``).

Within a transaction the room's row always comes before seats and lines, so that nobody waits in a circle.
"""

from __future__ import annotations

from .clock import advance, extend, set_phase, sweep
from .concerns import raise_concern
from .log import append, hold
from .messages import Sent, send_message
from .rooms import Limits, NewSeat, close_room, open_room
from .seats import leave_seat, note_seen, put_out

__all__ = [
    "Limits",
    "NewSeat",
    "Sent",
    "advance",
    "append",
    "close_room",
    "extend",
    "hold",
    "leave_seat",
    "note_seen",
    "open_room",
    "put_out",
    "raise_concern",
    "send_message",
    "set_phase",
    "sweep",
]

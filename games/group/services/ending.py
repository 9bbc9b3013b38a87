"""How a game ends: decided by a vote, abandoned by too many, cancelled by staff.

Nothing here touches the people's own rows: who withdraws holds theirs and waits for the room's, never the
other way round. ``settling`` ends them afterwards.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial

from django.db import transaction

from dialogues.models import Nature
from games.group.models import Game
from games.group.selectors import is_stale, living, people_here, rule
from games.group.services.erasing import forget
from games.group.services.keeping import keep
from games.room.models import Room, Seat
from games.room.services import close_room, leave_seat


def decided(room: Room) -> str:
    """How the votes so far decided the game: ``Game.End``, empty while it is open."""
    seats = living(room)
    if not any(seat.nature == Nature.MACHINE for seat in seats):
        return Game.End.AGENT_OUT
    return Game.End.SURVIVED if sum(seat.nature == Nature.HUMAN for seat in seats) <= 1 else ""


def too_few(room: Room, game: Game, now: datetime) -> bool:
    """Whether fewer people are there than the game needs."""
    return len(people_here(room, game, now)) < max(1, int(rule(game, "least_present")))


@transaction.atomic
def end_game(*, room: Room, game: Game, end: str, now: datetime) -> bool:
    """End the game and close its room; whether this call did. Callers hold the room.

    Whoever had not been seen for long when a game is abandoned is one of those who left it.
    """
    if not Game.objects.filter(pk=game.pk, end="").update(end=end, ended_at=now):
        return False
    game.end, game.ended_at = end, now
    if end == Game.End.ABANDONED:
        for seat in room.seats.living().filter(nature=Nature.HUMAN, left_at=None):
            seat.room = room
            if is_stale(seat, game, now):
                leave_seat(seat=seat, why=Seat.Left.GONE, now=now)
    close_room(room=room, data={"end": end}, now=now)
    if not room.is_preview and room.seats.filter(nature=Nature.HUMAN, participant=None).exists():
        forget([game.pk])  # somebody was erased, and the agent noted on what it had read before
    transaction.on_commit(partial(keep, game.pk), robust=True)  # the sweep finds what fails here
    return True

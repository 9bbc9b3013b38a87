"""From phase to phase: what the room asks when time is up or somebody has left. It is held by then."""

from __future__ import annotations

from datetime import datetime

from games.group.models import Game
from games.group.phases import DISCUSSION, REVEAL, VOTE
from games.group.selectors import rule
from games.group.services.ending import decided, end_game, too_few
from games.group.services.voting import close_if_all_voted, close_vote
from games.room.models import Room, Seat
from games.room.services import set_phase


def phase_over(room: Room, now: datetime) -> None:
    """Discussion → vote → reveal → the next discussion, or the end."""
    game = room.group_game
    if room.phase == DISCUSSION:
        set_phase(room=room, phase=VOTE, seconds=rule(game, "vote_seconds"), writable=False, now=now)
    elif room.phase == VOTE:
        close_vote(room=room, game=game, now=now)
    elif room.phase == REVEAL:
        _go_on(room, game, now)


def _go_on(room: Room, game: Game, now: datetime) -> None:
    end = decided(room)
    if not end and too_few(room, game, now):
        end = Game.End.ABANDONED
    if end:
        end_game(room=room, game=game, end=end, now=now)
        return
    set_phase(
        room=room,
        phase=DISCUSSION,
        seconds=rule(game, "discussion_seconds"),
        writable=True,
        round=room.round + 1,
        now=now,
    )


def left(seat: Seat, now: datetime) -> None:
    """Somebody has left. They stay at the table for the others; with too few people the game is abandoned."""
    room = seat.room
    game = room.group_game
    if game.end or decided(room):
        return
    if too_few(room, game, now):
        end_game(room=room, game=game, end=Game.End.ABANDONED, now=now)
    else:
        close_if_all_voted(room, game, now)

"""What staff may do to a game under way. Each leaves an audit line; players see only what it changes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from dialogues.models import Nature
from games.group.models import Game
from games.group.services.ending import end_game
from games.room.models import Seat
from games.room.services import advance, hold, leave_seat
from games.room.services import extend as extend_room
from studies import audit
from turingsite.errors import Conflict, Invalid

MOST_SECONDS = 3600


def extend(*, game: Game, seconds: int, user: Any, seen: datetime | None = None, now: datetime) -> None:
    """Give the phase more seconds; the room writes the audit line. ``seen``: the deadline that was seen, for
    the room to ask of it. Invalid outside of 1 to 3600.
    """
    if not 1 <= seconds <= MOST_SECONDS:
        message = _("Give from 1 to %(most)s seconds.")
        raise Invalid("bad_number", message, {"most": MOST_SECONDS})
    _check_live(game)
    extend_room(room=game.room, seconds=seconds, user=user, seen=seen, now=now)


@transaction.atomic
def next_phase(*, game: Game, phase_number: int | None = None, user: Any, now: datetime) -> bool:
    """End the phase now; whether it did. ``phase_number``: the one that was seen, so that a double click ends
    one phase alone.
    """
    room = hold(game.room_id)
    _check_live(game)
    number = room.phase_number if phase_number is None else phase_number
    if not advance(room_id=room.pk, phase_number=number, now=now, by_hand=True):
        return False
    audit.record(
        "group.next_phase",
        study=game.study,
        user=user,
        target=game.code,
        now=now,
        phase=room.phase,
        round=room.round,
    )
    return True


@transaction.atomic
def remove_player(*, game: Game, seat: Seat, user: Any, now: datetime) -> bool:
    """Take a person out of the game; the room writes the audit line. The others are not told.

    Invalid for the agent's seat (cancel the game instead) and for a seat of another game.
    """
    if seat.room_id != game.room_id:
        raise Invalid("other_room", _("This player is not in your game."))
    if seat.nature == Nature.MACHINE:
        raise Invalid("the_agent", _("A game can't go on without its AI. Cancel the game instead."))
    _check_live(game)
    return leave_seat(seat=seat, why=Seat.Left.REMOVED, user=user, now=now)


@transaction.atomic
def cancel(*, game: Game, user: Any, why: str = "", now: datetime) -> bool:
    """End the game; whoever was still in it is told and paid as cancelled by us. Whether this call did it."""
    room = hold(game.room_id)
    if not end_game(room=room, game=game, end=Game.End.CANCELLED, now=now):
        return False
    more = {"why": why} if why else {}
    audit.record("group.cancelled", study=game.study, user=user, target=game.code, now=now, **more)
    return True


def _check_live(game: Game) -> None:
    game.refresh_from_db(fields=["end", "ended_at"])
    if game.end:
        raise Conflict("game_over", _("This game has ended."))

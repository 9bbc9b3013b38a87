"""The vote: one a seat and round, closed once, the most-voted out, a tie drawn with the room's seed."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from dialogues.models import Nature
from games.group.models import Elimination, Game, Vote
from games.group.phases import REVEAL, VOTE
from games.group.selectors import awaited, living, rule
from games.room.models import Room, Seat
from games.room.services import advance, hold, put_out, set_phase
from studies.assignment import seeded
from turingsite.errors import Conflict, Gone, Invalid


def cast_vote(*, seat: Seat, target_code: str | None, round: int, now: datetime) -> Vote:
    """The seat's vote in that round; sent again, the first one stands. ``None``: abstains, where one may.

    Closes the vote with the last one that was waited for. Conflict ``no_vote_now``, ``out``; Gone ``left``;
    Invalid ``choose``, ``yourself``, ``not_living``, ``other_room``.
    """
    # Whoever notices first that time is up ends the phase: a vote that comes late finds it ended.
    late = (
        Room.objects.live().filter(pk=seat.room_id, deadline__lte=now).values_list("phase_number", flat=True)
    )
    for number in late:
        advance(room_id=seat.room_id, phase_number=number, now=now)
    return _cast(seat, target_code, round, now)


@transaction.atomic
def _cast(seat: Seat, target_code: str | None, number: int, now: datetime) -> Vote:
    room = hold(seat.room_id)
    game = room.group_game
    voter = room.seats.get(pk=seat.pk)
    before = Vote.objects.filter(voter=voter, round=number).select_related("target").first()
    if before is not None:
        return before
    refusal = why_not(room, game, voter)
    if refusal is not None:
        raise refusal
    if number != room.round:
        raise _no_vote_now()
    target = _target(room, game, voter, target_code)
    vote = Vote.objects.create(game=game, round=number, voter=voter, target=target, at=now)
    close_if_all_voted(room, game, now)
    return vote


def why_not(room: Room, game: Game, seat: Seat) -> Conflict | Gone | None:
    """Why this seat may not vote at this moment; None where it may."""
    if seat.left_at is not None:
        return Gone("left", _("You have left this game."))
    if seat.out_at is not None:
        return Conflict("out", _("You were voted out. You can watch, but not vote."))
    silent = seat.nature == Nature.MACHINE and not rule(game, "agent_votes")
    if room.closed_at is not None or room.phase != VOTE or silent:
        return _no_vote_now()
    return None


def _no_vote_now() -> Conflict:
    return Conflict("no_vote_now", _("There is no vote at this moment."))


def _target(room: Room, game: Game, voter: Seat, code: str | None) -> Seat | None:
    if code is None:
        if not rule(game, "abstain_button"):
            raise Invalid("choose", _("Choose one of the players."))
        return None
    target = room.seats.filter(code=code).first()
    if target is None:
        raise Invalid("other_room", _("This player is not in your game."))
    if target.pk == voter.pk:
        raise Invalid("yourself", _("You can't vote for yourself."))
    if target.out_at is not None:
        raise Invalid("not_living", _("This player is out already."))
    return target


def close_if_all_voted(room: Room, game: Game, now: datetime) -> bool:
    """Close the vote if nobody who is there still has to vote; callers hold the room.

    At least one person must have voted: where all connections broke, the deadline decides.
    """
    if room.closed_at is not None or room.phase != VOTE:
        return False
    votes = Vote.objects.filter(game=game, round=room.round)
    if not votes.filter(voter__nature=Nature.HUMAN).exists():
        return False
    voted = set(votes.values_list("voter_id", flat=True))
    if any(seat.pk not in voted for seat in awaited(room, game, now)):
        return False
    close_vote(room=room, game=game, now=now)
    return True


def close_vote(*, room: Room, game: Game, now: datetime) -> Elimination:
    """Count, put the most-voted out, show what they were. Callers hold the room."""
    elimination = eliminate(room=room, game=game, now=now)
    set_phase(room=room, phase=REVEAL, seconds=rule(game, "reveal_seconds"), writable=False, now=now)
    return elimination


def eliminate(*, room: Room, game: Game, now: datetime) -> Elimination:
    """Put the most-voted seat out and keep how it was decided. Callers hold the room."""
    seats = living(room)
    votes = Vote.objects.filter(game=game, round=room.round).exclude(target=None)
    counted = Counter(votes.values_list("target__code", flat=True))
    result = decide([seat.code for seat in seats], counted, seed=room.seed, number=room.round)
    seat = next(one for one in seats if one.code == result.code)
    elimination = Elimination.objects.create(
        game=game,
        round=room.round,
        seat=seat,
        living=len(seats),
        tally=dict(counted),
        tied=result.tied,
        draw=result.draw,
        at=now,
    )
    told: dict[str, object] = {"nature": seat.nature}
    if rule(game, "show_tallies"):
        told["tally"] = dict(counted)
    put_out(room=room, seat=seat, data=told, now=now)
    return elimination


class Decision(NamedTuple):
    """Who is out. ``tied``: those it was drawn from, empty without a draw; ``draw``: the draw's record."""

    code: str
    tied: list[str]
    draw: dict[str, object]


def decide(seats: list[str], counted: Counter[str], *, seed: int, number: int) -> Decision:
    """The most-voted of ``seats`` (codes in seat order); a tie is drawn evenly with seed and round.

    Without any vote all are tied.
    """
    most = max((counted[code] for code in seats), default=0)
    tied = [code for code in seats if counted[code] == most]
    if len(tied) == 1:
        return Decision(tied[0], [], {})
    at = seeded(seed, "tie", number).randrange(len(tied))
    return Decision(tied[at], tied, {"seed": f"{seed}:tie:{number}", "of": len(tied), "index": at})

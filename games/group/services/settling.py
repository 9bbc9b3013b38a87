"""What becomes of the people of a game: the end state and so the pay of each, once their part is over."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from games.group.models import Game, Ticket
from games.group.selectors import has_played, played
from games.room.models import Seat
from studies.models import EndState, Participant
from studies.services import complete, screen_out

LATE = timedelta(minutes=30)  # to answer the survey; who played and does not come for it is done all the same
BY_LEAVING = {
    Seat.Left.LEFT: EndState.WITHDREW,
    Seat.Left.GONE: EndState.TIMED_OUT,
    Seat.Left.REMOVED: EndState.SCREENED_OUT,
}
BY_END = {Game.End.ABANDONED: EndState.TECHNICAL, Game.End.CANCELLED: EndState.CANCELLED}


def end_state_of(seat: Seat, game: Game) -> str:
    """How it ends for the seat's person; empty for those who played their part: the survey is next."""
    if seat.out_at is not None:
        return ""
    if seat.left_why:
        return BY_LEAVING.get(Seat.Left(seat.left_why), EndState.WITHDREW)
    return BY_END.get(Game.End(game.end), "") if game.end else ""


def settle_person(*, seat: Seat, game: Game, now: datetime) -> bool:
    """Give the seat's person the end state that the game left them with; whether this call did.

    Who had done enough in an earlier game is done.
    """
    participant = seat.participant
    if participant is None or participant.end_state or participant.is_gone:
        return False
    end = end_state_of(seat, game)
    if not end:
        return False
    if has_played(participant):
        return complete(participant=participant, now=now)
    return screen_out(participant=participant, end_state=end, now=now)


def settle_game(game_id: int, now: datetime) -> int:
    """Settle everybody of a game; how many. Called after the commit, and again by the sweep."""
    game = Game.objects.get(pk=game_id)
    seats = Seat.objects.filter(room=game.room_id).select_related("participant__study")
    return sum(settle_person(seat=seat, game=game, now=now) for seat in seats)


def sweep_ends(now: datetime) -> int:
    """Settle whom nobody has settled: a process stopped in between, or they never came to the survey."""
    open_end = Seat.objects.filter(
        participant__end_state="", participant__withdrawn_at=None, room__group_game__isnull=False
    ).select_related("participant__study", "participant__rater", "room__group_game")
    left = Q(left_why__in=list(BY_LEAVING)) | Q(room__group_game__end__in=list(BY_END))
    settled = 0
    for seat in open_end.filter(left, out_at=None):
        settled += settle_person(seat=seat, game=seat.room.group_game, now=now)
    late = open_end.filter(
        played(),
        room__closed_at__lt=now - LATE,
        room__study__group__play_once=True,
    ).exclude(participant__in=Ticket.objects.filter(state__in=Ticket.OPEN).values("participant"))
    for seat in late:
        settled += _done(seat.participant, now)
    return settled


def _done(participant: Participant | None, now: datetime) -> bool:
    return participant is not None and complete(participant=participant, now=now)

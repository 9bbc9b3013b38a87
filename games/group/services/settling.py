"""What becomes of the people of a game: the end state, and so the pay, of each once their part is over.

Nobody is ended before they were asked the questions after the game: they come to the survey first, and from
there to the end that their game left them with. Who does not come is settled after a while.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from games.group.models import Game, Ticket
from games.group.selectors import has_played, left_early, played
from games.room.models import Seat
from studies.models import EndState
from studies.services import complete, screen_out

LATE = timedelta(minutes=30)  # for the survey
BY_LEAVING = {
    Seat.Left.LEFT: EndState.WITHDREW,
    Seat.Left.GONE: EndState.TIMED_OUT,
    Seat.Left.REMOVED: EndState.SCREENED_OUT,
}
BY_END = {Game.End.ABANDONED: EndState.TECHNICAL, Game.End.CANCELLED: EndState.CANCELLED}


def end_state_of(seat: Seat, game: Game) -> str:
    """How it ends for the seat's person if the game kept them from playing their part; else empty."""
    if left_early(seat, game):
        return BY_LEAVING.get(Seat.Left(seat.left_why), EndState.WITHDREW)
    if seat.out_at is not None:
        return ""
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


def sweep_ends(now: datetime) -> int:
    """End those whose part has been over for long and who have not come for the survey; how many.

    Who played to the end is done; where people may play again they stay.
    """
    seats = (
        Seat.objects.filter(
            Q(left_at__lt=now - LATE) | Q(room__closed_at__lt=now - LATE),
            participant__end_state="",
            participant__withdrawn_at=None,
            room__group_game__isnull=False,
        )
        .exclude(participant__in=Ticket.objects.filter(state__in=Ticket.OPEN).values("participant"))
        .select_related("participant__study", "participant__rater", "room__group_game")
    )
    kept = Q(left_why__in=list(BY_LEAVING)) | Q(room__group_game__end__in=list(BY_END))
    settled = 0
    for seat in seats.filter(kept):
        settled += settle_person(seat=seat, game=seat.room.group_game, now=now)
    for seat in seats.filter(played(), room__closed_at__lt=now - LATE, room__study__group__play_once=True):
        assert seat.participant is not None  # noqa: S101  (filtered above)
        settled += complete(participant=seat.participant, now=now)
    return settled

"""Those who leave without a word, and what becomes of games whose study has closed."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from dialogues.models import Nature
from games.group.models import Game
from games.group.phases import VOTE
from games.group.selectors import is_stale
from games.group.services.levers import cancel
from games.group.services.lobby import close_tickets
from games.group.services.voting import close_if_all_voted
from games.room.models import Room, Seat
from games.room.services import hold, leave_seat
from studies.models import Participant, Study

SHORTEST = timedelta(seconds=30)  # the least that ``gone_after`` can be


def withdrew(participant: Participant, now: datetime) -> None:
    """The person left the study: they wait no longer; their seat in a game under way stays to the others.

    Tickets come first: a game that seats the person at this moment either holds the ticket, and is seen
    below, or finds it closed.
    """
    close_tickets(participant, now)
    seats = Seat.objects.filter(participant=participant, left_at=None, room__closed_at=None)
    for seat in seats.filter(room__group_game__isnull=False):
        leave_seat(seat=seat, why=Seat.Left.WITHDREW, now=now)


def sweep_seats(now: datetime) -> int:
    """Note who was not seen for too long, or has ended the study and still has a seat; how many."""
    ended = ~Q(participant__end_state="") & Q(participant__isnull=False)
    seats = Seat.objects.filter(
        Q(seen_at=None) | Q(seen_at__lt=now - SHORTEST) | ended,
        nature=Nature.HUMAN,
        out_at=None,
        left_at=None,
        room__closed_at=None,
        room__group_game__end="",
    ).select_related("room__group_game", "participant")
    noted = 0
    for seat in seats.order_by("room", "position"):
        person = seat.participant
        if person is not None and person.is_gone:
            noted += leave_seat(seat=seat, why=Seat.Left.WITHDREW, now=now)
        elif person is not None and person.end_state:
            noted += leave_seat(seat=seat, why=Seat.Left.LEFT, now=now)
        elif is_stale(seat, seat.room.group_game, now):
            noted += leave_seat(seat=seat, why=Seat.Left.GONE, now=now)
    return noted


def sweep_votes(now: datetime) -> int:
    """Close votes in which nobody who is still there has to vote; how many."""
    return sum(_close(pk, now) for pk in _voting().values_list("pk", flat=True))


def _voting() -> QuerySet[Room]:
    return Room.objects.live().filter(phase=VOTE, group_game__end="")


@transaction.atomic
def _close(room_id: int, now: datetime) -> bool:
    room = hold(room_id)
    return close_if_all_voted(room, room.group_game, now)


def sweep_closed(now: datetime) -> int:
    """Cancel the games of studies that have closed; how many."""
    games = Game.objects.filter(study__status=Study.Status.CLOSED, end="", room__closed_at=None)
    return sum(cancel(game=game, user=None, why="study_closed", now=now) for game in games)

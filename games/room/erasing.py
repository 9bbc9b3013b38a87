"""This app's part of an erasure: what a person wrote in rooms goes, the log's numbers and times stay."""

from __future__ import annotations

from django.utils import timezone

from dialogues.erasing import WITHDRAWN_TEXT
from games.room.models import Concern, Event, HeldBack, Seat
from games.room.services import leave_seat
from studies.models import Participant
from studies.registry import Eraser, erasers


def erase_seats(participant: Participant) -> int:
    """Empty the person's messages and cut their seats off from them; the others' games stay whole.

    A seat in a room that is open is left first: from then on nothing is added to it.
    """
    seats = Seat.objects.filter(participant=participant)
    for seat in seats.filter(left_at=None, room__closed_at=None).order_by("room"):
        leave_seat(seat=seat, why=Seat.Left.WITHDREW, now=timezone.now())
    theirs = {"seat__participant": participant}
    said = Event.objects.messages().filter(**theirs)
    rows = Concern.objects.filter(event__in=said).exclude(text="").update(text="")  # it may quote them
    rows += Concern.objects.filter(**theirs).delete()[0]
    rows += HeldBack.objects.filter(**theirs).delete()[0]
    rows += said.update(text=WITHDRAWN_TEXT, client_id="", client_at=None, withdrawn=True)
    rows += seats.update(participant=None, rater=None)
    return rows


def register() -> None:
    """Called once when the app starts; games above have registered before, the rater goes after."""
    erasers.add(
        Eraser(
            key="room",
            models=("room.Seat", "room.Event", "room.HeldBack", "room.Concern"),
            erase=erase_seats,
        )
    )

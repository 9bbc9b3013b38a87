"""What a page does in a room, over the socket and by plain requests alike: fields in, what it is told out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from games.room.frames import is_word, moment, number
from games.room.models import Seat
from games.room.rules import rules_of
from games.room.services import send_message
from turingsite.errors import Gone, Invalid, NotFound


def say(seat_id: int, data: Mapping[str, Any]) -> dict[str, Any]:
    """Send a message; ``id`` and its number. DomainError where it may not be."""
    sent = send_message(
        seat_id=seat_id,
        text=data.get("text"),
        client_id=data.get("id"),
        client_at=moment(data.get("at")),
        now=timezone.now(),
    )
    return {"id": data["id"], "seq": sent.seq}


def act(seat_id: int, data: Mapping[str, Any]) -> dict[str, Any]:
    """Do what the game's rules know beside writing, as a vote; ``id`` and what they say to it."""
    seat = Seat.objects.select_related("room__study").filter(pk=seat_id).first()
    if seat is None:
        raise NotFound("no_seat", _("You have no seat in such a room."))
    if seat.left_at is not None:
        raise Gone("left", _("You have left this game."))
    action = data.get("do")
    # Requests bring what no frame of a socket may hold.
    words = [value for value in data.values() if isinstance(value, str)]
    if not isinstance(action, str) or not all(map(is_word, words)):
        raise Invalid("unreadable", _("This could not be read. Load the page again; you lose nothing."))
    fields = {**data, "round": number(data, "round")}
    return {"id": data.get("id"), **rules_of(seat.room).act(seat, action, fields, timezone.now())}

"""A message: what a text may hold, when it may be sent, stored once however often it arrives."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, NoReturn

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from games.room import hub
from games.room.holding_back import what_is_held_back
from games.room.models import HeldBack, Seat
from games.room.presenters import Speaker, Spoken
from games.room.services.clock import advance
from games.room.services.log import hold
from games.room.services.sending import Stored, store
from studies import characters
from turingsite.errors import Conflict, Gone, Invalid, NotFound, TryLater

LONGEST = 5000  # characters in any room: what is longer is not even looked at
_CLIENT_ID = re.compile(r"[\x21-\x7e]{1,40}")
#: Characters that leave nothing to see: spaces, formats (zero-width, bidi), fillers, variation selectors.
_BLANK = re.compile(
    "[\\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)


class Sent(NamedTuple):
    """The message's number and time in the log; ``is_new``: false where it was there under this client id."""

    seq: int
    at: datetime
    is_new: bool


def send_message(
    *,
    seat_id: int,
    text: Any,
    client_id: Any,
    client_at: datetime | None = None,
    edited: bool = False,
    now: datetime,
) -> Sent:
    """Store the text as it was sent and tell the room; again under its ``client_id`` it is the same line.

    Invalid ``unreadable``, ``empty``, ``too_long``, ``held_back``; Conflict ``not_now``, ``out``; Gone
    ``room_closed``, ``left``; TryLater ``too_fast`` (429); NotFound ``no_seat``.
    """
    text, client_id = _readable(text, client_id)
    what = what_is_held_back(text)
    if what:
        _hold_back(seat_id, what, now)
    stored = store(
        seat_id=seat_id, text=text, client_id=client_id, client_at=client_at, edited=edited, now=now
    )
    if stored is None:
        raise NotFound("no_seat", _("You have no seat in such a room."))
    if stored.known is not None:
        return Sent(*stored.known, is_new=False)
    if stored.new is None:
        _refuse(stored, now)
    seq, at = stored.new
    spoken = Spoken(seq, stored.round, stored.phase, at, Speaker(stored.seat_code), text)
    transaction.on_commit(partial(hub.announce, stored.room_id, seq, spoken))
    return Sent(seq, at, is_new=True)


def _readable(text: Any, client_id: Any) -> tuple[str, str]:
    if not isinstance(text, str) or not isinstance(client_id, str) or not _CLIENT_ID.fullmatch(client_id):
        raise Invalid("unreadable", _("The request cannot be read. Load the page again; you lose nothing."))
    if len(text) > LONGEST:
        raise _too_long(LONGEST)
    if characters.cleaned(text) != text:  # not taken out: what is stored is what was sent
        raise Invalid(
            "unreadable", _("There is a character in this message that can't be sent. Take it out.")
        )
    if _BLANK.fullmatch(text):
        raise Invalid("empty", _("There is nothing in this message."))
    return text, client_id


def _too_long(most: int) -> Invalid:
    return Invalid("too_long", _("This message is too long: %(n)s characters at most."), {"n": most})


def _refuse(stored: Stored, now: datetime) -> NoReturn:
    match stored.refusal:
        case "room_closed":
            raise Gone("room_closed", _("This game is over."))
        case "left":
            raise Gone("left", _("You have left this game."))
        case "out":
            raise Conflict("out", _("You were voted out, so you can't write any more."))
        case "too_long":
            raise _too_long(stored.max_length)
        case "too_fast":
            raise TryLater(
                "too_fast",
                _("You are writing very fast. Wait a few seconds, then send it again."),
                status=429,
            )
        case "overdue":  # whoever notices first moves the room on
            advance(room_id=stored.room_id, phase_number=stored.phase_number, now=now)
    raise Conflict("not_now", _("Nobody can write at the moment."))


def _hold_back(seat_id: int, what: str, now: datetime) -> None:
    """Refuse a text with a contact in it and note that, not what it said. Not where nothing may be sent."""
    with transaction.atomic():
        seat = Seat.objects.filter(pk=seat_id).first()
        if seat is None:
            return
        room = hold(seat.room_id)
        seat.refresh_from_db()
        over = room.closed_at or seat.left_at or seat.out_at or not room.writable
        if over or (room.deadline is not None and room.deadline <= now):
            return
        since = now - timedelta(seconds=room.rate_seconds)
        if seat.held_back.filter(at__gt=since).count() < room.rate_count:
            HeldBack.objects.create(seat=seat, what=what, at=now)
    if what == HeldBack.What.EMAIL:
        message = _("This was not sent: it seems to hold an e-mail address. Please keep contacts out.")
    else:
        message = _("This was not sent: it seems to hold a phone number. Please keep contacts out.")
    raise Invalid("held_back", message)

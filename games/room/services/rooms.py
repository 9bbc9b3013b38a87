"""Opening and closing a room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from dialogues.models import Nature
from games.room.models import Event, Room, Seat
from games.room.pseudonyms import names
from games.room.services.log import append, deadline_after, turn
from studies.assignment import seeded
from studies.models import Participant, Rater, Study
from turingsite.errors import Invalid, gettext_noop


class NewSeat(NamedTuple):
    """Who takes a seat. A person's rater is their own where none is named."""

    nature: str
    participant: Participant | None = None
    rater: Rater | None = None


class Limits(NamedTuple):
    """What is asked of messages: characters at most, so many at once within so many seconds."""

    max_length: int = 500
    rate_count: int = 5
    rate_seconds: int = 10


@transaction.atomic
def open_room(
    *,
    study: Study,
    game: str,
    language: str,
    seats: Sequence[NewSeat],
    seed: int,
    phase: str,
    seconds: float | None,
    writable: bool,
    limits: Limits | None = None,
    typing: bool = False,
    is_test: bool = False,
    is_preview: bool = False,
    now: datetime,
) -> Room:
    """Open a room in its first phase, with its first line. Order and pseudonyms are drawn with ``seed``.

    Invalid ``too_many_seats`` where there are not names enough.
    """
    known = names(language)
    if len(seats) > len(known):
        message = gettext_noop("A room has %(n)s seats at most.")
        raise Invalid("too_many_seats", message, {"n": len(known)})
    limits = limits or Limits()
    room = Room.objects.create(
        study=study,
        game=game,
        language=language,
        seed=seed,
        phase=phase,
        writable=writable,
        phase_started_at=now,
        deadline=deadline_after(now, seconds),
        typing=typing,
        is_test=is_test,
        is_preview=is_preview,
        opened_at=now,
        **limits._asdict(),
    )
    # Two draws of their own: who sits where says nothing of who is called what.
    order = seeded(seed, "seats").sample(seats, len(seats))
    called = seeded(seed, "pseudonyms").sample(known, len(seats))
    Seat.objects.bulk_create(
        Seat(
            room=room,
            position=position,
            pseudonym=pseudonym,
            nature=new.nature,
            participant=new.participant,
            rater=_rater(new),
            seen_at=now,
        )
        for position, (new, pseudonym) in enumerate(zip(order, called, strict=True))
    )
    append(room=room, kind=Event.Kind.PHASE, data={"seconds": seconds}, now=now)
    return room


def _rater(new: NewSeat) -> Rater | None:
    if new.rater is None and new.participant is not None and new.nature == Nature.HUMAN:
        return Rater.objects.filter(participant=new.participant).first()
    return new.rater


@transaction.atomic
def close_room(*, room: Room, data: Mapping[str, Any] | None = None, now: datetime) -> Event:
    """End it for good, with the line ``end``. Callers hold the room."""
    turn(room, phase="end", writable=False, phase_started_at=now, deadline=None, closed_at=now)
    return append(room=room, kind=Event.Kind.END, data=data, now=now)

"""What an erasure leaves of somebody in a room: numbers and times of their lines, nothing to join on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from games.room import services
from games.room.models import Concern, Event, HeldBack, Room, Seat
from studies.services import withdraw
from studies.services.erasing import erase
from tests.factories import NOW
from tests.room.live import plain_room
from turingsite.errors import DomainError

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def talked() -> tuple[Room, Seat, Seat]:
    room, (seat, other) = plain_room(2)
    at = room.opened_at
    for number, (who, text) in enumerate([(seat, "I am Ada Example"), (other, "Hello"), (seat, "Bye")]):
        services.send_message(
            seat_id=who.pk,
            text=text,
            client_id=f"c{number}",
            client_at=NOW,
            now=at + timedelta(seconds=number),
        )
    for who in (seat, other):
        with pytest.raises(DomainError):
            services.send_message(seat_id=who.pk, text="me@example.org", client_id="h", now=at)
    services.raise_concern(seat=other, event_seq=2, text="She says she is Ada Example", now=at)
    services.raise_concern(seat=seat, event_seq=3, text="I do not like it", now=at)
    services.raise_concern(seat=other, event_seq=None, text="It is loud", now=at)
    return room, seat, other


def rows(room: Room) -> list[dict[str, Any]]:
    columns = ("seq", "seat", "at", "length", "phase", "round", "kind")
    return list(Event.objects.filter(room=room).order_by("seq").values(*columns))


def test_erased_messages_keep_their_place_and_nothing_to_join_on() -> None:
    room, seat, other = talked()
    before, person = rows(room), seat.participant
    assert person is not None
    erase(participant=person)
    assert rows(room) == before
    said = Event.objects.filter(seat=seat).order_by("seq")
    assert list(said.values_list("text", "client_id", "client_at", "withdrawn", "length")) == [
        ("[withdrawn]", "", None, True, 16),
        ("[withdrawn]", "", None, True, 3),
    ]
    answer = Event.objects.get(seat=other)
    assert (answer.text, answer.client_id, answer.client_at, answer.withdrawn) == ("Hello", "c1", NOW, False)
    seat.refresh_from_db()
    other.refresh_from_db()
    assert (seat.participant, seat.rater, seat.left_why) == (None, None, "withdrew")
    assert (other.participant is None, other.rater is None, other.left_why) == (False, False, "")
    assert not HeldBack.objects.filter(seat=seat).exists()
    assert HeldBack.objects.filter(seat=other).count() == 1
    kept = Concern.objects.order_by("pk").values_list("seat", "event__seq", "text")
    assert list(kept) == [(other.pk, 2, ""), (other.pk, None, "It is loud")]
    with pytest.raises(DomainError) as left:
        services.send_message(seat_id=seat.pk, text="More", client_id="d", now=room.opened_at)
    assert left.value.code == "left"


def test_a_game_that_is_over_is_emptied_too_and_who_only_withdraws_keeps_their_words() -> None:
    room, seat, other = talked()
    services.close_room(room=room, now=room.opened_at)
    assert seat.participant is not None
    assert other.participant is not None
    withdraw(participant=seat.participant, erase_answers=True)
    withdraw(participant=other.participant, erase_answers=False)
    texts = Event.objects.messages().order_by("seq").values_list("text", flat=True)
    assert list(texts) == ["[withdrawn]", "Hello", "[withdrawn]"]
    assert [one.left_why for one in room.seats.order_by("pk")] == ["", ""]
    other.refresh_from_db()
    assert other.participant is not None

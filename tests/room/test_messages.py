"""Messages: a log without gaps, one line per client id, and every refusal in words."""

from __future__ import annotations

from datetime import timedelta

import pytest

from games.room import services
from games.room.models import Event
from tests.factories import NOW
from tests.rooms import RoomFactory, SeatFactory

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def test_sent_twice_is_one_line() -> None:
    seat = SeatFactory(room=RoomFactory(last_seq=0))
    at = NOW + timedelta(seconds=3)
    first = services.send_message(seat_id=seat.pk, text="Hi %s 你好", client_id="a", now=at)
    again = services.send_message(seat_id=seat.pk, text="Hi %s 你好", client_id="a", now=at)
    assert (first.seq, first.is_new, again.seq, again.is_new) == (1, True, 1, False)
    assert first.at == again.at == at
    line = Event.objects.get()
    assert (line.text, line.length, line.phase, line.data, line.at) == ("Hi %s 你好", 8, "discussion", {}, at)
    seat.room.refresh_from_db()
    assert seat.room.last_seq == 1

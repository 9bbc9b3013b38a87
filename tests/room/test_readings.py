"""What server processes ask all the time: which phases are over, how rooms stand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from games.room import readings, selectors
from tests.factories import NOW
from tests.rooms import RoomFactory


@pytest.mark.both
@pytest.mark.django_db
def test_overdue_rooms_come_the_longest_overdue_first():
    late = RoomFactory(deadline=NOW - timedelta(seconds=1), phase_number=4)
    later = RoomFactory(deadline=NOW - timedelta(microseconds=1))
    RoomFactory(deadline=NOW + timedelta(microseconds=1))
    RoomFactory(deadline=None)
    RoomFactory(deadline=NOW - timedelta(hours=1), writable=False, closed_at=NOW)
    assert selectors.rooms_overdue(NOW) == [(late.pk, 4), (later.pk, 1)]


@pytest.mark.both
@pytest.mark.django_db
def test_rooms_stand_as_their_rows_say():
    room, quiet = RoomFactory(last_seq=3), RoomFactory(deadline=None)
    now = readings.rooms_now({room.pk: 3, quiet.pk: 0})
    assert now[room.pk] == (3, 1, room.deadline, [])
    assert now[quiet.pk] == (0, 1, None, [])

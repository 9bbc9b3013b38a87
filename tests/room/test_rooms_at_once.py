"""Everything at the same moment, threads on real connections: no gap, no double, no phase ended twice."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction

from games.room import services
from games.room.models import Event, Room, Seat
from games.room.services import Limits, Sent
from studies.services.erasing import erase
from tests.room.live import plain_room
from tests.speech.test_concurrency import at_once
from turingsite.errors import DomainError

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]


def numbers(room: Room) -> list[int]:
    return list(Event.objects.filter(room=room).order_by("seq").values_list("seq", flat=True))


def test_twenty_threads_end_a_phase_once(transactional_db: None) -> None:
    room, _seats = plain_room(2, seconds=60)
    now = room.opened_at + timedelta(seconds=60)

    def notice(number: int) -> int:
        if number % 2:
            return services.sweep(now)
        return services.advance(room_id=room.pk, phase_number=1, now=now)

    assert sorted(map(int, at_once(notice))) == [0] * 19 + [1]
    room.refresh_from_db()
    assert (room.phase, room.phase_number, room.last_seq) == ("after", 2, 2)
    assert numbers(room) == [1, 2]


def test_messages_from_everywhere_have_numbers_without_a_gap_and_none_comes_after_the_end(
    transactional_db: None,
) -> None:
    room, seats = plain_room(4, seconds=60, limits=Limits(rate_count=100))
    in_time, late = room.opened_at + timedelta(seconds=59), room.opened_at + timedelta(seconds=60)

    def act(number: int) -> list[Any]:
        if number == 19:
            services.advance(room_id=room.pk, phase_number=1, now=late, by_hand=True)
            with transaction.atomic():
                return [services.close_room(room=services.hold(room.pk), now=late).seq]
        outcomes = []
        for which in range(6):
            outcomes.append(
                services.send_message(
                    seat_id=seats[number % 4].pk, text="x", client_id=f"{number}-{which}", now=in_time
                )
            )
        return outcomes

    outcomes = at_once(act)
    end = Event.objects.get(kind="end").seq
    assert numbers(room) == list(range(1, end + 1)), "no gap, and nothing after the end"
    room.refresh_from_db()
    assert room.last_seq == end
    sent = [
        one for outcome in outcomes if isinstance(outcome, list) for one in outcome if isinstance(one, Sent)
    ]
    assert len({one.seq for one in sent}) == len(sent) <= Event.objects.messages().count() == end - 3
    refused = [outcome.code for outcome in outcomes if not isinstance(outcome, list)]
    assert set(refused) <= {"room_closed"}


def test_the_same_message_from_twenty_threads_is_one_line(transactional_db: None) -> None:
    room, (seat, _other) = plain_room(2)

    def send(number: int) -> Sent:
        return services.send_message(seat_id=seat.pk, text="x", client_id="same", now=room.opened_at)

    sent = at_once(send)
    assert {(one.seq, one.at) for one in sent} == {(2, room.opened_at)}
    assert sum(one.is_new for one in sent) == 1
    assert numbers(room) == [1, 2]


def test_twenty_tabs_of_one_seat_send_no_more_than_is_allowed_at_once(transactional_db: None) -> None:
    room, (seat, _other) = plain_room(2)

    def send(number: int) -> Sent:
        return services.send_message(seat_id=seat.pk, text="x", client_id=f"{number}", now=room.opened_at)

    said = Counter("sent" if isinstance(one, Sent) else one.code for one in at_once(send))
    assert said == {"sent": 5, "too_fast": 15}
    assert numbers(room) == [1, 2, 3, 4, 5, 6]


def test_a_message_that_waited_for_somebody_to_leave_the_room_is_refused(transactional_db: None) -> None:
    room, (seat, _other) = plain_room(2)

    def send() -> Any:
        try:
            return services.send_message(seat_id=seat.pk, text="x", client_id="a", now=room.opened_at)
        except DomainError as error:
            return error.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            services.leave_seat(seat=seat, why="left", now=room.opened_at)
            outcome = pool.submit(send)
            while connection.vendor == "postgresql" and not _somebody_waits():
                assert not outcome.done()
        assert outcome.result() == "left"
    assert numbers(room) == [1]


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
        )
        return cursor.fetchone() is not None


def test_somebody_erases_in_the_middle_of_everything(transactional_db: None) -> None:
    room, (seat, other) = plain_room(2, limits=Limits(rate_count=100))
    person = seat.participant
    assert person is not None
    now = room.opened_at

    def act(number: int) -> Any:
        if number == 0:
            return erase(participant=person)
        if number % 4 == 1:
            return services.note_seen(seat_ids=[seat.pk, other.pk], now=now + timedelta(minutes=number))
        if number % 4 == 2:
            return services.leave_seat(seat=Seat.objects.get(pk=seat.pk), why="gone", now=now)
        who = (seat, other)[number % 2]
        return services.send_message(seat_id=who.pk, text="I am Ada", client_id=f"{number}", now=now)

    outcomes = at_once(act)
    unexpected = [
        one for one in outcomes if isinstance(one, Exception) and getattr(one, "code", "") != "left"
    ]
    assert unexpected == []
    assert not Event.objects.filter(seat=seat, text__contains="Ada").exists()
    assert numbers(room) == list(range(1, Room.objects.get().last_seq + 1))

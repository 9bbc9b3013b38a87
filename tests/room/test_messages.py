"""Messages: a log without gaps, one line per client id, text as it was sent, every refusal in words."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games.room import hub, services
from games.room.models import Event, HeldBack, Room, Seat
from games.room.presenters import event_frame
from games.room.selectors import events_after
from games.room.services import sending
from tests.factories import NOW
from tests.room.live import plain_room
from tests.rooms import RoomFactory, SeatFactory
from turingsite.errors import DomainError

pytestmark = [pytest.mark.both, pytest.mark.django_db]


@pytest.fixture
def seat() -> Seat:
    return SeatFactory(room=RoomFactory(game="plain", rate_count=5, rate_seconds=10))


def send(seat: Seat, text: Any = "Hello", client_id: Any = "one", second: float = 1, **more: Any) -> Any:
    """What came of it: what was sent, or the error."""
    now = NOW + timedelta(seconds=second)
    try:
        return services.send_message(seat_id=seat.pk, text=text, client_id=client_id, now=now, **more)
    except DomainError as error:
        return error


def code(outcome: Any) -> str:
    return str(getattr(outcome, "code", "sent"))


def test_a_message_is_one_line_however_often_it_is_sent_and_whatever_has_become_of_the_room(
    seat: Seat,
) -> None:
    at, by_phone = NOW + timedelta(seconds=1), datetime.fromisoformat("2026-03-02T11:58:00+00:00")
    text = " 你好 %s %(now)s 'x'; \\ \u202eabc \U0001f600\r\n\tend \n"
    first = send(seat, text, "one", client_at=by_phone, edited=True)
    assert first == services.Sent(seq=1, at=at, is_new=True)
    line = Event.objects.get()
    assert (line.text, line.length, line.seat, line.room) == (text, len(text), seat, seat.room)
    assert (line.kind, line.round, line.phase, line.data) == ("message", 1, "discussion", {})
    assert (line.at, line.client_at, line.client_id, line.edited) == (at, by_phone, "one", True)
    other = SeatFactory(room=seat.room)
    assert send(other, second=2).seq == 2  # the same id of somebody else is another message
    for change in ({"writable": False}, {"closed_at": NOW}):
        Room.objects.update(**change)
        assert send(seat, text, "one", second=500) == first._replace(is_new=False)
    Seat.objects.update(out_at=NOW, out_round=1, left_at=NOW)
    assert send(seat, text, "one") == first._replace(is_new=False)
    assert (Event.objects.count(), Room.objects.get().last_seq) == (2, 2)


def test_a_message_takes_one_trip_to_the_database(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    own: list[Any] = []

    class Counted(psycopg.Cursor[Any]):
        def execute(self, query: Any, *given: Any, **how: Any) -> Any:
            own.append(query)
            return super().execute(query, *given, **how)

    monkeypatch.setattr(sending, "Cursor", Counted)
    with CaptureQueriesContext(connection) as trips:
        send(seat)
    own += [one["sql"] for one in trips if "SAVEPOINT" not in one["sql"]]
    assert len(own) == (1 if connection.vendor == "postgresql" else 4), own


def test_the_room_is_told_what_the_row_says(
    seat: Seat, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(hub, "announce", lambda *news: told.append(news))
    with django_capture_on_commit_callbacks(execute=True):
        send(seat, second=1.25)
        send(seat)
        assert told == []
    ((room_id, seq, event),) = told
    (row,) = events_after(seat.room_id, 0)
    assert (room_id, seq) == (seat.room_id, 1)
    assert event_frame(event) == event_frame(row)
    assert event_frame(row) == {
        "type": "event",
        "seq": 1,
        "kind": "message",
        "round": 1,
        "phase": "discussion",
        "at": "2026-03-02T12:00:01.250000+00:00",
        "seat": seat.code,
        "text": "Hello",
        "data": {},
    }


def test_times_never_go_back_in_the_log(seat: Seat) -> None:
    late, early = send(seat, client_id="a", second=5), send(seat, client_id="b", second=4)
    assert (early.seq, early.at) == (2, late.at)
    notice = services.append(room=seat.room, kind="notice", now=NOW)
    assert (notice.seq, notice.at) == (3, late.at)
    assert list(Event.objects.values_list("at", flat=True).distinct().order_by()) == [late.at]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("", "empty"),
        (" \n\t\u3000\xa0", "empty"),
        ("\u200b\u200d\ufeff\u2060\u00ad", "empty"),
        ("\u202e\u2066\u3164\u2800\ufe0f\U000e0020", "empty"),
        ("a\x00b", "unreadable"),
        ("a\x1bb", "unreadable"),
        ("bell\x07", "unreadable"),
        ("half \ud83d", "unreadable"),
        ("\ufffe", "unreadable"),
        (b"bytes", "unreadable"),
        (None, "unreadable"),
        (12, "unreadable"),
        (["a"], "unreadable"),
        ({"text": "a"}, "unreadable"),
        ("x" * 501, "too_long"),
        ("x" * 100_000, "too_long"),
        ("\x00" * 100_000, "too_long"),
        ("write me: 138 1234 5678", "held_back"),
        ("x" * 500, "sent"),
        ("\U0001f600" * 500, "sent"),
        ("\u200bvisible", "sent"),
        (".", "sent"),
        ("null", "sent"),
        ("<script>alert(1)</script>", "sent"),
        ("150 seconds, 1998, 3:2", "sent"),
    ],
)
def test_what_a_text_may_hold(seat: Seat, text: Any, refusal: str) -> None:
    outcome = send(seat, text)
    assert code(outcome) == refusal
    if refusal == "sent":
        assert Event.objects.get().text == text
    else:
        assert str(outcome)
        assert (Event.objects.count(), Room.objects.get().last_seq) == (0, 0)


@pytest.mark.parametrize("client_id", ["", "x" * 41, "a b", "é", "\x00", None, 7, {}])
def test_a_message_without_a_proper_id_is_refused(seat: Seat, client_id: Any) -> None:
    assert code(send(seat, client_id=client_id)) == "unreadable"


@pytest.mark.parametrize(
    ("room", "own", "refusal", "status"),
    [
        ({"writable": False}, {}, "not_now", 409),
        ({"writable": False, "deadline": None}, {}, "not_now", 409),
        ({"deadline": None}, {}, "sent", 0),
        ({}, {"out_at": NOW, "out_round": 1}, "out", 409),
        ({}, {"left_at": NOW, "left_why": "left"}, "left", 410),
        ({"closed_at": NOW, "writable": False}, {}, "room_closed", 410),
        ({"max_length": 4}, {}, "too_long", 400),
    ],
)
@pytest.mark.parametrize("text", ["Hello", "me@example.org"])
def test_when_somebody_may_write(
    seat: Seat, room: dict[str, Any], own: dict[str, Any], refusal: str, status: int, text: str
) -> None:
    Room.objects.update(**room)
    Seat.objects.update(**own)
    outcome = send(seat, text)
    if text != "Hello" and refusal in ("sent", "too_long"):
        refusal, status = "held_back", 400
    assert code(outcome) == refusal
    assert getattr(outcome, "status", 0) == status
    assert HeldBack.objects.count() == (refusal == "held_back")
    assert Event.objects.count() == (refusal == "sent")
    if refusal == "too_long":
        assert str(outcome) == "This message is too long: 4 characters at most."


def test_a_seat_that_is_not_there_has_no_say(seat: Seat) -> None:
    assert code(send(Seat(pk=seat.pk + 1))) == "no_seat"
    assert code(send(Seat(pk=seat.pk + 1), "me@example.org")) == "no_seat"


def test_too_many_at_once_are_refused_and_later_ones_taken(seat: Seat) -> None:
    outcomes = [send(seat, client_id=f"m{n}", second=1 + n) for n in range(6)]
    assert [code(one) for one in outcomes] == ["sent"] * 5 + ["too_fast"]
    assert (outcomes[5].status, outcomes[5].retryable) == (429, True)
    assert code(send(SeatFactory(room=seat.room), second=6)) == "sent"  # each for themselves
    assert code(send(seat, client_id="m5", second=10.9)) == "too_fast"
    assert send(seat, client_id="m0", second=10.9).seq == 1
    assert send(seat, client_id="m5", second=11.1).seq == 7


def test_the_deadline_counts_by_the_servers_clock_and_a_late_message_wakes_the_room() -> None:
    room, (seat, *_) = plain_room(2, seconds=60)
    end = room.deadline
    assert end is not None
    before = services.send_message(
        seat_id=seat.pk, text="in time", client_id="a", now=end - timedelta(microseconds=1)
    )
    with pytest.raises(DomainError) as late:
        services.send_message(seat_id=seat.pk, text="late", client_id="b", now=end)
    assert late.value.code == "not_now"
    room.refresh_from_db()
    assert (room.phase, room.phase_number, room.last_seq) == ("after", 2, before.seq + 1)
    assert services.send_message(seat_id=seat.pk, text="late", client_id="b", now=end).seq == before.seq + 2


def test_a_contact_is_held_back_and_only_that_it_was_is_kept(seat: Seat) -> None:
    words = {
        "phone": "This was not sent: it seems to hold a phone number. Please keep contacts out.",
        "email": "This was not sent: it seems to hold an e-mail address. Please keep contacts out.",
    }
    for number, (what, text) in enumerate([("phone", "１３８-1234-5678"), ("email", "a.b@example.org")]):
        outcome = send(seat, f"It is {text}", f"h{number}", second=number)
        assert (code(outcome), str(outcome)) == ("held_back", words[what])
        row = HeldBack.objects.latest("pk")
        assert (row.seat, row.what, row.at) == (seat, what, NOW + timedelta(seconds=number))
    assert {field.name for field in HeldBack._meta.concrete_fields} == {"id", "seat", "what", "at"}
    assert not Event.objects.exists()
    assert code(send(seat, "It is a secret", "h0", second=3)) == "sent"
    for number in range(20):
        send(seat, "me@example.org", f"i{number}", second=3)
    assert HeldBack.objects.count() == 5  # no more are noted than could have been sent

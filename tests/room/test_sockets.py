"""The live room over its socket: every line once and in order for everybody, whatever happens on the way."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest
from django.db import connections, transaction
from django.utils import timezone

from games.room import feeds, readings, services
from games.room import hub as hubs
from games.room.feeds import LONGEST
from games.room.models import Event, Room, Seat
from games.room.readings import Line
from tests.room.live import Page, Site, plain_room, server, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site(transactional_db: None) -> Iterator[Site]:
    with server() as running:
        yield running


def pages_of(site: Site, seats: list[Seat]) -> list[Page]:
    """An open page of each seat, greeted."""
    pages = [Page.of(site, seat) for seat in seats]
    for page in pages:
        page.until("state")
    return pages


@pytest.mark.both
def test_messages_reach_everybody_once_in_order_and_a_latecomer_reads_up(site: Site) -> None:
    room, seats = plain_room(3)
    ada, bea = (Page.of(site, seat) for seat in seats[:2])
    state = ada.next()
    assert (state["type"], state["last_seq"], state["you"]["seat"]) == ("state", 1, seats[0].code)
    assert 0 < state["remaining"] <= 600
    bea.until("state")
    for number in range(5):
        assert ada.say(f"a{number}") == {"type": "ack", "id": f"ask-{number + 1}", "seq": 2 + 2 * number}
        assert bea.say(f"b{number}")["type"] == "ack"
    eve = Page.of(site, seats[2], after=4)
    for page, first in ((ada, 1), (bea, 1), (eve, 5)):
        page.read_to(11)
        assert page.numbers == list(range(first, 12))
    assert ada.texts == bea.texts == [f"{who}{n}" for n in range(5) for who in "ab"]
    told = ada.lines[-1]
    row = Event.objects.get(room=room, seq=11)
    assert told == {
        "type": "event",
        "seq": 11,
        "kind": "message",
        "round": 1,
        "phase": "talk",
        "at": row.at.isoformat(),
        "seat": seats[1].code,
        "text": "b4",
        "data": {},
    }
    again = bea.ask(type="send", id="ask-5", text="b4", at=None)
    assert again == {"type": "ack", "id": "ask-5", "seq": 11}, "sent again it is the same line"
    assert Event.objects.messages().count() == 10
    wait_for(lambda: Seat.objects.filter(pk=seats[0].pk, seen_at__gt=room.opened_at).exists())


@pytest.mark.both
def test_a_line_that_comes_while_the_first_page_reads_rows_is_not_lost(site: Site, monkeypatch) -> None:
    """As when a server starts anew in the middle of a talk."""
    _room, (seat, other) = plain_room(2)
    read = readings.lines_after

    def reads_and_somebody_writes(room_id: int, seq: int) -> list[Line]:
        lines = read(room_id, seq)
        monkeypatch.setattr(feeds, "lines_after", read)
        services.send_message(seat_id=other.pk, text="meanwhile", client_id="m", now=timezone.now())
        return lines

    monkeypatch.setattr(feeds, "lines_after", reads_and_somebody_writes)
    page = Page.of(site, seat, after=1)
    page.until("state")
    wait_for(Event.objects.messages().exists)
    assert page.say("hello")["seq"] == 3
    page.read_to(3)
    assert page.numbers == [2, 3]


@pytest.mark.both
def test_many_at_once_from_sockets_threads_and_requests_leave_no_gap(site: Site) -> None:
    """Everybody writes at the same moment; what threads announce comes in whatever order."""
    _room, seats = plain_room(4, limits=services.Limits(rate_count=100, rate_seconds=1))
    pages = pages_of(site, seats)
    each = 8

    def talk(page: Page, seat: Seat) -> None:
        for number in range(each):
            if number % 2:
                page.send(type="send", id=f"s{number}", text=f"{seat.code} {number}")
            else:
                services.send_message(
                    seat_id=seat.pk, text=f"{seat.code} {number}", client_id=f"s{number}", now=timezone.now()
                )
        connections.close_all()

    threads = [threading.Thread(target=talk, args=pair) for pair in zip(pages, seats, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = 1 + each * len(seats)
    for page in pages:
        page.read_to(whole)
        assert page.numbers == list(range(1, whole + 1))
        assert page.texts == pages[0].texts
    assert len(set(pages[0].texts)) == each * len(seats)


def test_lines_announced_in_any_order_twice_or_not_at_all(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub's own promise: whatever reaches it, pages get every line once, in order."""
    draw = Random(7)
    held: list[tuple] = []
    monkeypatch.setattr("games.room.services.messages.hub.announce", lambda *news: held.append(news))
    _room, seats = plain_room(2, limits=services.Limits(rate_count=100, rate_seconds=1))
    pages = pages_of(site, seats)
    for number in range(30):
        services.send_message(
            seat_id=seats[number % 2].pk, text=f"m{number}", client_id=f"c{number}", now=timezone.now()
        )
    monkeypatch.undo()
    news = [one for one in held if one[1] % 7] * 2  # every seventh is lost, the others come twice
    draw.shuffle(news)
    for one in news:
        hubs.announce(*one)
    for page in pages:
        page.read_to(31)
        assert page.numbers == list(range(1, 32))
    hubs.announce(held[0][0], 31)  # a number alone, and one that everybody has
    assert pages[0].say("still there")["seq"] == 32
    pages[0].read_to(32)
    assert pages[0].numbers == list(range(1, 33))


def test_a_slow_page_holds_up_nobody_and_misses_nothing(site: Site) -> None:
    limits = services.Limits(max_length=5000, rate_count=1000, rate_seconds=1)
    _room, seats = plain_room(2, limits=limits)
    quick, slow = Page.of(site, seats[0]), Page.of(site, seats[1], buffer=4096, queue=1)
    for page in (quick, slow):
        page.until("state")
    many = 3 * LONGEST
    for number in range(many):  # more than a socket's buffers and its place in the hub hold
        text = f"{number} " + "x" * 4900
        services.send_message(seat_id=seats[0].pk, text=text, client_id=f"c{number}", now=timezone.now())
        quick.read_to(number + 2)
    link = next(link for link in hubs.hub.links if link.seat_id == seats[1].pk)
    assert not link.is_live, "the page was quick enough: nothing is tested here"
    slow.read_to(many + 1)
    assert slow.numbers == quick.numbers == list(range(1, many + 2))
    wait_for(lambda: link.is_live)


@pytest.mark.both
def test_a_new_phase_reaches_every_page_with_its_state(site: Site) -> None:
    """The clock of the server process moves the room on by itself; nobody has asked."""
    room, seats = plain_room(2, seconds=600)
    pages = pages_of(site, seats)
    Room.objects.filter(pk=room.pk).update(deadline=timezone.now() + timedelta(seconds=300))
    for page in pages:
        while page.until("clock")["remaining"] > 300:
            pass  # a deadline set anew is told at once
    Room.objects.filter(pk=room.pk).update(deadline=timezone.now())
    for page in pages:
        page.until("event", kind="phase", phase="after")
        state = page.until("state")
        assert (state["phase"], state["phase_number"], state["remaining"]) == ("after", 2, None)
        assert state["last_seq"] == 2
    assert Event.objects.filter(room=room).count() == 2, "once, whoever notices"


@pytest.mark.both
def test_who_may_not_read_gets_states_and_no_lines(site: Site) -> None:
    room, seats = plain_room(3)
    ada, bea, _eve = pages_of(site, seats)
    with transaction.atomic():
        held = services.hold(room.pk)
        services.put_out(room=held, seat=seats[1], data={"nature": "human"}, now=timezone.now())
    state = bea.until("state")
    assert state["you"] == {"seat": seats[1].code, "out": True, "may_write": False, "may_read": False}
    assert ada.say("without you")["type"] == "ack"
    assert bea.say("let me")["error"]["code"] == "out"
    with transaction.atomic():
        services.append(room=services.hold(room.pk), kind=Event.Kind.NOTICE, now=timezone.now())
    assert bea.until("state")["last_seq"] == 4
    assert max(bea.numbers) == 2
    back = Page.of(site, seats[1], after=0)
    back.until("state")
    assert back.ask(type="act", do="vote", round=1)["type"] == "done"
    assert back.lines == []


@pytest.mark.both
def test_typing_is_told_to_the_others_and_only_where_the_room_shows_it(site: Site) -> None:
    for typing in (True, False):
        room, seats = plain_room(2, slug=f"talk-{typing}", typing=typing)
        ada, bea = pages_of(site, seats)
        ada.send(type="typing")
        ada.send(type="typing")  # too soon: once a second is enough
        assert ada.say("done")["type"] == "ack"
        bea.read_to(2)
        told = [frame for frame in bea.frames if frame["type"] == "typing"]
        assert told == ([{"type": "typing", "seat": seats[0].code}] if typing else [])
        assert not [frame for frame in ada.frames if frame["type"] == "typing"]
        hubs.typing(room.pk, seats[1].code)  # as the agent's runner says it
        if typing:
            assert ada.until("typing") == {"type": "typing", "seat": seats[1].code}


def test_frames_do_not_tell_who_is_behind_a_seat(site: Site) -> None:
    """What people and the machine send has the same keys and, but for texts and numbers, the same size."""
    room, seats = plain_room(3, machine=True, typing=True)
    machine = room.seats.get(nature="machine")
    pages = pages_of(site, seats)
    pages[0].say("a word")
    services.send_message(seat_id=machine.pk, text="a word", client_id="m1", edited=True, now=timezone.now())
    hubs.typing(room.pk, seats[0].code)
    hubs.typing(room.pk, machine.code)
    watching = pages[1]
    watching.until("typing", seat=machine.code)
    watching.read_to(3)

    def shape(frame: dict) -> tuple:
        flat = {name: "" if name in ("at", "seat", "seq") else value for name, value in frame.items()}
        return json.dumps(flat), len(json.dumps(frame))

    person, agent = watching.lines[1:]
    assert (person["seat"], agent["seat"]) == (seats[0].code, machine.code)
    assert shape(person) == shape(agent)
    typed = [frame for frame in watching.frames if frame["type"] == "typing"]
    assert len(typed) == 2
    assert len({shape(frame) for frame in typed}) == 1
    state = next(frame for frame in watching.frames if frame["type"] == "state")
    assert len({json.dumps({**one, "seat": "", "name": ""}) for one in state["seats"]}) == 1
    assert "nature" not in json.dumps(watching.frames)

"""Who gets a socket, and what the room says to frames that are none: words, in the person's language."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.conf import settings as site_settings
from django.test import Client
from django.utils import timezone
from websockets.exceptions import InvalidStatus

from games.room import consumers, services
from games.room.models import Event, Seat
from studies.models import Participant
from tests import factories
from tests.room.live import Page, Site, cookie_of, person_at, plain_room, server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site(transactional_db: None) -> Iterator[Site]:
    with server() as running:
        yield running


def session_of(user: object) -> str:
    client = Client()
    client.force_login(user)  # type: ignore[arg-type]
    return f"{site_settings.SESSION_COOKIE_NAME}={client.cookies[site_settings.SESSION_COOKIE_NAME].value}"


@pytest.mark.both
def test_only_a_page_of_this_site_with_its_persons_cookie_gets_a_socket(site: Site, settings) -> None:
    _room, seats = plain_room(2)
    slug, cookie = "talk", cookie_of(person_at(seats[0]))
    for origin in (
        "https://elsewhere.example.org",
        "null",
        f"https://127.0.0.1:{site.port}",
        "http://127.0.0.1",
    ):
        with pytest.raises(InvalidStatus) as refused:
            Page(site, slug, cookie, origin=origin)
        assert refused.value.response.status_code == 403, origin
    settings.CSRF_TRUSTED_ORIGINS = ["https://study.example.org", "https://*.example.net"]
    for origin in ("https://study.example.org", "https://a.example.net"):
        Page(site, slug, cookie, origin=origin).until("state")
    with pytest.raises(InvalidStatus) as refused:
        Page(site, slug, cookie, origin="https://example.net.evil.org")
    assert refused.value.response.status_code == 403

    stranger = factories.ParticipantFactory(study=person_at(seats[0]).study)
    away = factories.ParticipantFactory(study=stranger.study, withdrawn_at=timezone.now())
    go, welcome = f"/s/{slug}/go/", f"/s/{slug}/"
    for who, its_cookie, goto in (
        ("nobody", "", welcome),
        ("forged", f"{cookie[:-2]}xx", welcome),
        ("no seat", cookie_of(stranger), go),
        ("withdrew", cookie_of(away), go),
    ):
        page = Page(site, slug, its_cookie, after=None)
        assert page.next() == {"type": "goto", "url": goto}, who
        assert page.closed() == consumers.NOT_HERE, who
    for path in ("nothing/", f"?seat={seats[1].code}", f"?seat={seats[0].code}"):
        if path.startswith("?"):  # another's seat, or even one's own: that is a researcher's way in
            page = Page(site, slug, cookie, query=path, after=None)
            assert page.next() == {"type": "goto", "url": go}
            assert page.closed() == consumers.NOT_HERE
        else:
            with pytest.raises(InvalidStatus):
                Page(site, slug, cookie, query=path)


@pytest.mark.both
def test_researchers_sit_at_every_seat_of_a_preview_and_of_nothing_else(site: Site, cast) -> None:
    preview, _seats = plain_room(2, study=cast.study, is_preview=True, machine=True)
    real, _seats = plain_room(2, study=cast.study)
    slug = cast.study.slug
    pages = []
    for seat in preview.seats.all():
        page = Page(site, slug, session_of(cast.researcher), query=f"?seat={seat.code}")
        assert page.until("state")["you"]["seat"] == seat.code
        pages.append(page)
    assert pages[0].say("from a window")["seq"] == 2
    pages[1].read_to(2)
    for user, seat in (
        (cast.stranger, preview.seats.all()[0]),
        (cast.reviewer, preview.seats.all()[0]),
        (cast.researcher, real.seats.all()[0]),
    ):
        page = Page(site, slug, session_of(user), query=f"?seat={seat.code}", after=None)
        assert page.next()["type"] == "goto"


@pytest.mark.both
def test_who_leaves_or_is_removed_is_sent_on_and_the_others_see_nothing(site: Site) -> None:
    room, seats = plain_room(3)
    ada, bea, eve = (Page.of(site, seat) for seat in seats)
    for page in (ada, bea, eve):
        page.until("state")
    services.leave_seat(seat=seats[0], why=Seat.Left.REMOVED, now=timezone.now())
    assert ada.until("goto") == {"type": "goto", "url": "/s/talk/go/"}
    assert ada.closed() == consumers.NO_LONGER_HERE
    Participant.objects.filter(pk=person_at(seats[1]).pk).update(withdrawn_at=timezone.now())
    assert bea.until("goto")["url"] == "/s/talk/go/", "found in the rows, though nobody said so"
    assert bea.closed() == consumers.NO_LONGER_HERE
    assert eve.say("alone")["seq"] == 2
    eve.read_to(2)
    assert {frame["type"] for frame in eve.frames} <= {"state", "event", "ack", "clock"}
    assert room.events.count() == 2
    again = Page.of(site, seats[0], after=None)
    assert again.next()["type"] == "goto"


WRONG: list[str | bytes] = [
    "no json",
    "[1, 2]",
    '"send"',
    "null",
    "{}",
    '{"type": "dance"}',
    '{"type": 7}',
    '{"type": "send", "id": {"a": 1}, "text": "x"}',
    '{"type": "act", "id": "x", "do": "\\u0000"}',
    '{"type": "act", "id": "\\ud800", "do": "vote"}',
    '{"type": "ping", "x": "' + "y" * 500 + '"}',
    "[" * 5000,
    '{"type": "send", "id": "' + "a" * 100_000 + '"}',
    b"\x00\x01",
    b'{"type": "ping"}',
]


@pytest.mark.both
def test_frames_that_cannot_be_read_are_refused_in_words_and_the_socket_lives(site: Site) -> None:
    _room, seats = plain_room(1)
    Participant.objects.filter(pk=person_at(seats[0]).pk).update(interface_language="zh-hans")
    page = Page.of(site, seats[0], after=None)
    early = page.ask(type="send", text="before hello")
    assert early["error"]["code"] == "no_hello"
    page.send(type="hello", after=10**9)  # a number nobody reached: all of it
    page.read_to(1)
    for frame in WRONG:
        page.raw(frame)
        told = page.until("refused")
        assert told["error"]["code"] in ("unreadable", "too_long"), frame
        assert told["error"]["message"]
    refused = {
        "empty": page.ask(type="send", text="\u200b \u2060"),
        "unreadable": page.ask(type="send", text="half \ud800 a pair"),
        "too_long": page.ask(type="send", text="x" * 501),
    }
    for code, told in refused.items():
        assert told["error"]["code"] == code
        assert set(told) == {"type", "id", "error"}
        assert set(told["error"]) == {"code", "message", "fields"}
    assert page.ask(type="act", do="speak")["language"] == "zh-hans", "rules speak the person's language"
    odd: list[dict[str, object]] = [
        {"text": 7},
        {"text": None},
        {},
        {"text": "x", "id": 7},
        {"text": "x", "id": ""},
    ]
    for fields in odd:
        page.send(**{"type": "send", "id": "odd", **fields})
        assert page.until("refused")["error"]["code"] == "unreadable"
    for at in (None, "soon", -1e300, 1e300, True, float("inf"), 1_700_000_000_000):
        assert page.ask(type="act", do="vote", at=at)["type"] == "done"
    sent = page.ask(type="send", id="late", text="<b>ok</b> %s {x}", at=1e300)
    assert (sent["type"], sent["seq"]) == ("ack", 2)
    page.send(type="ping")
    page.until("pong")
    assert Event.objects.get(seq=2).text == "<b>ok</b> %s {x}"


def test_a_flood_is_braked_in_words_and_in_the_end_cut_off(site: Site) -> None:
    _room, seats = plain_room(2)
    page, other = (Page.of(site, seat) for seat in seats)
    other.until("state")
    for _ in range(45):
        page.send(type="ping")
    assert page.until("refused")["error"]["code"] == "too_fast"
    for _ in range(200):
        page.send(type="ping")
    assert page.closed() == consumers.ABUSED
    junk = Page.of(site, seats[0])
    for _ in range(200):
        try:
            junk.raw("junk")
        except OSError:
            break
    assert junk.closed() == consumers.ABUSED
    too_long = Page.of(site, seats[0])
    too_long.raw("x" * 200_000)
    assert too_long.closed() == 1009
    assert other.say("the others notice nothing")["type"] == "ack"


def test_a_socket_that_says_nothing_is_closed(site: Site, monkeypatch) -> None:
    monkeypatch.setattr(consumers, "HELLO_WITHIN", 0.2)
    _room, seats = plain_room(1)
    page = Page.of(site, seats[0], after=None)
    page.send(type="ping")
    page.until("pong")
    assert page.closed() == consumers.SILENT


def test_a_database_that_does_not_answer_costs_a_try_and_no_socket(site: Site, monkeypatch) -> None:
    from django.db import OperationalError

    def broken(*args: object, **kwargs: object) -> None:
        raise OperationalError("gone")

    _room, seats = plain_room(1)
    page = Page.of(site, seats[0])
    page.until("state")
    with monkeypatch.context() as patch:
        patch.setattr("games.room.acting.send_message", broken)
        told = page.ask(type="send", id="x", text="hello")
        assert (told["type"], told["error"]["code"]) == ("refused", "try_later")
    assert page.ask(type="send", id="x", text="hello")["type"] == "ack"
    page.read_to(2)
    assert json.dumps(page.lines).count("hello") == 1

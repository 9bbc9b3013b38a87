"""The live room over its socket: every line once and in order for everybody, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.room.live import Page, Site, plain_room, server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site(transactional_db: None) -> Iterator[Site]:
    with server() as running:
        yield running


@pytest.mark.both
def test_messages_reach_everybody_once_in_order_and_a_latecomer_reads_up(site: Site) -> None:
    _room, seats = plain_room(3)
    ada, bea = (Page.of(site, seat) for seat in seats[:2])
    state = ada.next()
    assert (state["type"], state["last_seq"], state["you"]["seat"]) == ("state", 1, seats[0].code)
    bea.until("state")
    for number in range(5):
        assert ada.say(f"a{number}")["type"] == "ack"
        assert bea.say(f"b{number}")["type"] == "ack"
    eve = Page.of(site, seats[2], after=4)
    for page, first in ((ada, 1), (bea, 1), (eve, 5)):
        page.read_to(11)
        assert page.numbers == list(range(first, 12))
    assert ada.texts == bea.texts == [f"{who}{n}" for n in range(5) for who in "ab"]

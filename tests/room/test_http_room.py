"""The room by plain requests: lines, states and refusals as over the socket, and forms without a script."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone

from games.room import services
from games.room.models import Concern, Event, Seat
from studies import access
from studies.models import Participant
from tests import factories
from tests.room.live import person_at, plain_room

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


class Browser:
    def __init__(self, seat: Seat) -> None:
        assert seat.participant is not None
        self.client = Client()
        self.slug = seat.participant.study.slug
        key = signing.dumps(seat.participant.resume_code, salt=f"{access.SALT}.{self.slug}")
        self.client.cookies[access.cookie_name(self.slug)] = key

    def log(self, after: int = 0, **query: Any) -> dict[str, Any]:
        answer = self.client.get(f"/s/{self.slug}/room/log/", {"after": after, "format": "json", **query})
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    def post(self, where: str, **data: Any) -> Any:
        return self.client.post(f"/s/{self.slug}/room/{where}/", data, content_type="application/json")

    def form(self, where: str, **data: Any) -> Any:
        return self.client.post(f"/s/{self.slug}/room/{where}/", data)


def test_the_log_after_a_number_with_the_state_and_a_sign_of_life() -> None:
    room, seats = plain_room(2)
    ada, bea = map(Browser, seats)
    assert ada.post("send", id="a1", text="hello", at=1_700_000_000_000).json() == {"id": "a1", "seq": 2}
    assert ada.post("send", id="a1", text="hello").json() == {"id": "a1", "seq": 2}, "again: the same line"
    assert Event.objects.messages().get().client_at is not None
    told = bea.log()
    assert told["state"]["you"]["seat"] == seats[1].code
    assert [line["seq"] for line in told["events"]] == [1, 2]
    assert bea.log(1)["events"] == told["events"][1:]
    assert bea.log(2)["events"] == []
    assert len(bea.log(99)["events"]) == 2, "a number nobody reached counts as none"
    assert len(bea.log(-5)["events"]) == 2
    long_ago = timezone.now() - timedelta(minutes=1)
    Seat.objects.filter(room=room).update(seen_at=long_ago)
    bea.log()
    assert [Seat.objects.filter(pk=seat.pk, seen_at=long_ago).exists() for seat in seats] == [True, False]


def test_refusals_have_a_status_and_the_one_shape() -> None:
    room, seats = plain_room(2)
    ada = Browser(seats[0])
    for data, status, code in (
        ({"id": "x", "text": ""}, 400, "empty"),
        ({"id": "x", "text": "y" * 501}, 400, "too_long"),
        ({"id": "x", "text": 7}, 400, "unreadable"),
        ({"text": "no id"}, 400, "unreadable"),
    ):
        answer = ada.post("send", **data)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    with_vote = ada.post("act", id="v", do="vote", target=seats[1].code, round=1)
    assert with_vote.json() == {"id": "v", "do": "vote", "target": seats[1].code, "round": 1}
    assert ada.post("act", id="v").json()["error"]["code"] == "unreadable"
    for word in ("\ud800", "a\0b", "x" * 300):  # what rows cannot hold, or is no word of ours
        for name in ("do", "target", "id"):
            odd = ada.post("act", **{"do": "vote", "target": seats[1].code, "round": 1, name: word})
            assert (odd.status_code, odd.json()["error"]["code"]) == (400, "unreadable"), (name, word)
    assert ada.post("typing").status_code == 200
    services.close_room(room=room, now=timezone.now())
    gone = ada.post("send", id="z", text="too late")
    assert (gone.status_code, gone.json()["error"]["code"]) == (410, "room_closed")
    assert ada.log()["state"]["closed"], "the page that is still open learns how it ended"


def test_forms_without_a_script_go_back_to_the_game_with_the_reason() -> None:
    _room, seats = plain_room(2)
    ada = Browser(seats[0])
    go = "/s/talk/go/"
    assert ada.form("send", text="by a form").url == go
    assert ada.form("send", text="by a form", id="f1").url == go
    assert ada.form("send", text="by a form", id="f1").url == go  # pressed twice
    assert Event.objects.messages().count() == 2
    assert ada.form("act", do="vote", target=seats[1].code, round="1").url == go
    assert ada.form("concern", seq="2", text="rude").url == go
    answer = ada.form("send", text="")
    assert (answer.status_code, answer.url) == (302, go)
    assert Concern.objects.get().event == Event.objects.get(seq=2)


def test_leaving_and_having_no_seat_leads_on() -> None:
    _room, seats = plain_room(2)
    ada, bea = map(Browser, seats)
    assert ada.post("concern", seq=99).json()["error"]["code"] == "no_message"
    assert ada.post("leave").json() == {"goto": "/s/talk/go/"}
    assert ada.log() == {"goto": "/s/talk/go/"}
    assert ada.client.get("/s/talk/room/log/")["Location"] == "/s/talk/go/"
    for where in ("leave", "send"):  # a form that is sent twice, and one of a tab that was left open
        form = ada.form(where, text="back again")
        assert (form.status_code, form.url) == (302, "/s/talk/go/")
    left = ada.post("send", id="x", text="back again")
    assert (left.status_code, left.json()["error"]["code"]) == (410, "left")
    assert [line["kind"] for line in bea.log()["events"]] == ["phase"], "the others are not told"
    Participant.objects.filter(pk=person_at(seats[1]).pk).update(withdrawn_at=timezone.now())
    assert bea.log() == {"goto": "/s/talk/go/"}
    assert Client().get("/s/talk/room/log/", {"format": "json"}).status_code == 403
    assert ada.client.get("/s/talk/room/send/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/s/talk/room/send/", {"text": "x"}).status_code == 403


def test_researchers_use_the_seats_of_a_preview_by_request_too(cast) -> None:
    preview, _ = plain_room(2, study=cast.study, is_preview=True)
    real, _ = plain_room(2, study=cast.study)
    client, slug = Client(), cast.study.slug
    client.force_login(cast.researcher)
    seat = preview.seats.all()[0]
    path = f"/s/{slug}/room"
    sent = client.post(
        f"{path}/send/?seat={seat.code}", {"id": "a", "text": "hi"}, content_type="application/json"
    )
    assert sent.json()["seq"] == 2
    told = client.get(f"{path}/log/", {"seat": seat.code, "format": "json"}).json()
    assert told["state"]["you"]["seat"] == seat.code
    for user, code in ((cast.stranger, seat.code), (cast.researcher, real.seats.all()[0].code)):
        client.force_login(user)
        answer = client.get(f"{path}/log/", {"seat": code, "format": "json"})
        assert answer.json() == {"goto": f"/s/{slug}/go/"}
        answer = client.post(
            f"{path}/send/?seat={code}", {"id": "b", "text": "x"}, content_type="application/json"
        )
        assert answer.status_code == 404
    person = factories.ParticipantFactory(study=cast.study)
    assert person.seats.count() == 0

"""Logs name routes and ids, never what people typed, where they came from, or what they were given."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from games.speech.models import Trial
from studies.models import Participant
from tests import factories
from tests.clock import Clock
from tests.speech.conftest import Person
from turingsite.logs import Lines

ADDRESS = "203.0.113.77"
SECRETS = ("Tidewater", "person-4711", "secret.example", ADDRESS, "2001:db8", "anna@example.org", "zanzibar")


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """All that is logged meanwhile, as a running site writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Lines())
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def lines_of(stream: io.StringIO) -> list[dict[str, str]]:
    return [dict(re.findall(r'(\w+)=("[^"]*"|\S*)', line)) for line in stream.getvalue().splitlines()]


@pytest.fixture
def person(db: None, clock: Clock) -> Person:
    return Person(factories.ParticipantFactory(study=factories.speech_study()), clock)


def test_one_line_for_a_request_with_its_route_and_id(person: Person, written: io.StringIO) -> None:
    answer = person.get("trial/", headers={"X-Request-ID": "given-by-proxy"})
    assert answer["X-Request-ID"] == "given-by-proxy"
    [line] = lines_of(written)
    assert line["event"] == "request"
    assert (line["method"], line["route"], line["status"]) == ("GET", "speech:trial", "200")
    assert line["request"] == "given-by-proxy"
    assert float(line["ms"]) > 0


@pytest.mark.parametrize("given", ["", "short", "x" * 65, "with space", "a\x1b[31mred", "né-à-paris"])
def test_an_id_of_another_shape_is_drawn_anew(client: Client, db: None, given: str) -> None:
    answer = client.get("/health/live", headers={"X-Request-ID": given})
    assert re.fullmatch(r"[0-9a-f]{32}", answer["X-Request-ID"])


def test_nothing_of_a_person_is_ever_written(person: Person, written: io.StringIO, monkeypatch) -> None:
    """One walk past everything that logs: pages, refusals, faults, logins, strange hosts."""
    client = person.client
    client.defaults |= {"REMOTE_ADDR": ADDRESS, "HTTP_X_FORWARDED_FOR": ADDRESS}
    slug = person.slug
    Participant.objects.update(nickname="Tidewater")
    client.get(f"/s/{slug}/?PROLIFIC_PID=person-4711&src=zanzibar")
    client.get(f"/s/{slug}/zanzibar/?q=person-4711")
    client.get("/s/zanzibar/")
    client.post(f"/s/{slug}/resume/", {"code": "zanzibar"})
    trial = person.trial()
    person.listen(trial)
    person.answer(trial)
    person.post(f"trial/{trial['code']}/verdict/", choice="zanzibar")
    client.get(trial["audio"])
    person.form("nickname/", nickname="anna@example.org")
    client.post("/admin/login/", {"username": "anna@example.org", "password": "zanzibar"})
    Client(enforce_csrf_checks=True).post(f"/s/{slug}/resume/", {"code": "zanzibar"})

    def broken(*args: object, **kwargs: object) -> None:
        try:
            raise KeyError(person.participant.resume_code)
        except KeyError as error:
            raise ValueError(f"anna@example.org from {ADDRESS} typed zanzibar") from error

    monkeypatch.setattr("games.speech.presenters.board_page", broken)
    client.raise_request_exception = False
    assert person.get("board/").status_code == 500
    text = written.getvalue()
    codes = [person.participant.code, person.participant.resume_code, person.participant.receipt_code]
    codes += Trial.objects.values_list("code", flat=True)
    codes += Trial.objects.values_list("exposure__token", flat=True)
    for secret in (*SECRETS, *codes, slug + "/"):
        assert secret not in text, next(line for line in text.splitlines() if secret in line)
    [fault] = [line for line in lines_of(written) if line.get("exception")]
    assert fault["exception"] == "ValueError<KeyError"
    assert fault["raised"].endswith(":broken")
    assert (fault["route"], fault["status"]) == ("speech:board", "500")
    routes = [line["route"] for line in lines_of(written) if line.get("event") == "request"]
    assert {"none", "studies:welcome", "dialogues:media", "admin:login", "speech:board"} <= set(routes)


def test_strange_host_is_refused_without_its_name(client: Client, settings, written: io.StringIO) -> None:
    settings.ALLOWED_HOSTS = ["study.example.org"]
    assert client.get("/", headers={"host": "secret.example"}).status_code == 400
    assert "secret" not in written.getvalue()
    assert [line for line in lines_of(written) if line["logger"] == "django.security.DisallowedHost"]


@pytest.mark.parametrize(
    "message",
    [
        "Invalid request from ip=203.0.113.77: Bad Request",
        "Error handling request /s/zanzibar/?code=zanzibar",
        "connection from 2001:db8::1 closed",
        "mail to anna@example.org",
        "key 'zanzibar' is missing, not \"Tidewater\"",
    ],
)
def test_messages_of_libraries_lose_what_was_filled_in(written: io.StringIO, message: str) -> None:
    logging.getLogger("some.library").warning(message)
    logging.getLogger("some.library").warning("refused %s at %s", "zanzibar", ADDRESS)
    text = written.getvalue()
    assert not [secret for secret in SECRETS if secret in text], text
    assert 'message="refused %s at %s"' in text


def test_lines_may_be_json() -> None:
    record = logging.LogRecord(
        "turingsite.x", logging.INFO, "", 1, 'event=done job=%d words="two words"', (7,), None
    )
    line = json.loads(Lines(json=True).format(record))
    assert (line["event"], line["job"], line["words"], line["level"]) == ("done", "7", "two words", "INFO")


def test_a_line_stays_one_line() -> None:
    record = logging.LogRecord("library", logging.ERROR, "", 1, "first\nsecond\r\nthird", None, None)
    assert len(Lines().format(record).splitlines()) == 1


def test_a_failed_login_is_not_told_with_the_account(client: Client, db: None, written: io.StringIO) -> None:
    get_user_model().objects.create_user("anna@example.org", password="right password")
    for _ in range(12):
        client.post("/admin/login/", {"username": "anna@example.org", "password": "zanzibar"})
    assert "anna" not in written.getvalue()

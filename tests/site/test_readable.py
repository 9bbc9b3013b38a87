"""What no view can read is refused in words: NUL anywhere in an address or a form, and forms too large."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.test import Client

from tests.site.test_access import ALL, Route, address, visitor, world  # noqa: F401

pytestmark = pytest.mark.django_db
PLACES = (
    "annotation:",
    "annotators:",
    "review:",
    "admin:desk_annotat",
    "admin:desk_reference",
    "admin:desk_taxonom",
)
OURS = [route for route in ALL if route.key.startswith(PLACES)]
FIELDS = (
    "dimension", "key", "close", "dialogue", "code", "reason", "text", "score", "name", "role", "action",
    "make", "username", "after", "show", "state", "q", "layer",
)  # fmt: skip


def who(route: Route) -> str:
    return (
        "participant"
        if route.key.startswith("annotation:")
        else "reviewer"
        if route.key.startswith("review:")
        else "operator"
    )


def quiet(client: Client) -> Client:
    client.raise_request_exception = False
    return client


def test_no_address_of_the_annotation_fails_on_nul(world: dict[str, Any]) -> None:  # noqa: F811
    assert len(OURS) > 40
    clients = {role: quiet(visitor(world, role)[0]) for role in ("participant", "reviewer", "operator")}
    failed = []
    for route in OURS:
        url, client = address(route, world), clients[who(route)]
        if route.key.endswith("logout"):
            continue
        sent = [dict.fromkeys(FIELDS, "a\0b"), *({"version": "0", one: "a\0b"} for one in FIELDS)]
        tried = [("get", sent[0]), *(("post", data) for data in sent)]
        failed += [
            (method, route.key, sorted(data)[:2])
            for method, data in tried
            if getattr(client, method)(url, data).status_code >= 500
        ]
    assert failed == []


def test_an_address_with_nul_leads_nowhere(world: dict[str, Any]) -> None:  # noqa: F811
    for path in (
        "/review/%00/",
        "/review/reviewed/%00/",
        "/review/reviewed/%00/decide/",
        "/admin/study/%00/",
    ):
        client, _headers = visitor(world, "reviewer")
        for method in ("get", "post"):
            assert getattr(quiet(client), method)(path).status_code == 404, path


def test_a_form_with_nul_is_told_why(world: dict[str, Any]) -> None:  # noqa: F811
    client, _headers = visitor(world, "reviewer")
    url = f"/review/reviewed/{world['codes']['review']}/approve/"
    answer = client.post(url, {"version": "0", "dimension": "a\0"})
    assert answer.status_code == 400
    assert "a character that cannot be shown (U+0000)" in answer.content.decode()
    told = client.post(url, {"version": "0", "dimension": "a\0"}, headers={"accept": "application/json"})
    assert (told.status_code, told.json()["error"]["code"]) == (400, "characters")


@pytest.mark.parametrize("checked", [True, False])
def test_a_form_too_large_is_no_error_of_the_site(
    world: dict[str, Any],  # noqa: F811
    caplog: pytest.LogCaptureFixture,
    checked: bool,
) -> None:
    client = Client(enforce_csrf_checks=checked)
    client.force_login(world["cast"].reviewer)
    url = f"/review/reviewed/{world['codes']['review']}/comment/"
    with caplog.at_level(logging.INFO):
        answer = client.post(url, "text=" + "x" * 2_600_000, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 413
    assert "Nothing was stored." in answer.content.decode()
    assert {record.levelname for record in caplog.records if record.levelno >= logging.WARNING} == {"WARNING"}

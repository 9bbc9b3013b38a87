"""What the interface refuses, it refuses as its schema says, in the one shape, and at nobody's cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from django.conf import settings as site
from django.test import Client
from django.utils import timezone

from turingsite.api.services import make_token

pytestmark = pytest.mark.django_db
ROOT = "/api/v1"
Post = Callable[..., Any]


@pytest.fixture
def post(client: Client, cast) -> Post:
    """POST for an export of the study, with a token that may."""
    secret = make_token(owner=cast.researcher, studies=[cast.study], name="tests", may_export=True).secret
    address = f"{ROOT}/studies/{cast.study.slug}/exports?look=early"
    headers = {"authorization": f"Bearer {secret}"}

    def ask(**fields: Any) -> Any:
        return client.post(address, fields, content_type="application/json", headers=headers)

    return ask


@pytest.mark.parametrize("bom", [0, 1, "no", "true", None])
def test_a_boolean_is_true_or_false(post: Post, bom: Any) -> None:
    answer = post(bom=bom)
    assert answer.status_code == 400
    assert answer.json()["fields"].keys() == {"bom"}
    assert post(bom=False).status_code == 201


def test_refused_exports_do_not_count(post: Post, settings: Any) -> None:
    settings.API_RATES = {**site.API_RATES, "export": "2/hour"}
    with time_machine.travel(timezone.now(), tick=False):
        assert [post(tier="secret").status_code for _ in range(3)] == [400, 400, 400]
        assert [post().status_code for _ in range(3)] == [201, 201, 429]
        assert post(tier="secret").status_code == 429, "what was refused as too many gives nothing back"


@pytest.mark.parametrize(
    ("asked", "accept", "kind", "begins"),
    [
        ("", "application/json", "application/json", b"{"),
        ("?format=json", "*/*", "application/json", b"{"),
        ("?format=yaml", "*/*", "application/vnd.oai.openapi", b"openapi:"),
        ("?format=yaml", "application/json", "application/vnd.oai.openapi", b"openapi:"),
    ],
)
def test_the_schema_comes_in_the_format_of_the_address(
    client: Client, asked: str, accept: str, kind: str, begins: bytes
) -> None:
    answer = client.get(f"{ROOT}/schema{asked}", headers={"accept": accept})
    assert answer.status_code == 200
    assert answer["Content-Type"].split(";")[0] == kind
    assert answer.content.startswith(begins)


def test_the_schema_comes_in_no_other_format(client: Client) -> None:
    answer = client.get(f"{ROOT}/schema?format=xml")
    assert answer.status_code == 400
    assert answer.json()["code"] == "bad_parameter"
    assert "yaml" in answer.json()["fields"]["format"]


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_docs_take_nothing(method: str) -> None:
    answer = getattr(Client(enforce_csrf_checks=True), method)(f"{ROOT}/docs")
    assert answer.status_code == 405
    assert answer["Allow"] == "GET, HEAD"
    assert answer.json()["code"] == "method_not_allowed"
    assert answer.json().keys() == {"code", "message", "fields"}

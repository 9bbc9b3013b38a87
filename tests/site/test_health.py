"""The health pages: alive without asking anything, ready only when the work can be done."""

from __future__ import annotations

import pytest
from django.urls import reverse


def test_live_needs_no_database(client) -> None:
    response = client.get(reverse("health_live"))
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.both
@pytest.mark.django_db
def test_ready_when_all_parts_work(client) -> None:
    response = client.get(reverse("health_ready"))
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "parts": {"database": "ok", "media": "ok", "broker": "ok"}}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("setting", "value", "part"),
    [("REDIS_URL", "redis://127.0.0.1:1/0", "broker"), ("MEDIA_ROOT", "/dev/null/media", "media")],
)
def test_not_ready_names_the_part_that_fails(client, settings, setting: str, value: str, part: str) -> None:
    setattr(settings, setting, value)
    response = client.get(reverse("health_ready"))
    assert response.status_code == 503
    assert response.json()["parts"][part] == "failed"


def test_health_answers_get_and_head_only(client) -> None:
    assert client.head(reverse("health_live")).status_code == 200
    assert client.post(reverse("health_live")).status_code == 405

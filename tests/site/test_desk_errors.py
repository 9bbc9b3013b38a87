"""What is missing below /admin/: the desk's bar for who works there, nothing of it for anybody else."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

MISSING = (
    "/admin/study/no-such-study/",
    "/admin/corpus/no-such-dialogue/",
    "/admin/imports/999999/",
    "/admin/no/such/page/",
    "/admin/dialogues/system/999999/change/",
)


@pytest.mark.parametrize("path", MISSING)
def test_what_is_missing_on_the_desk_has_the_way_back(client: Client, cast: Any, path: str) -> None:
    client.force_login(cast.researcher)
    answer = client.get(path)
    text = answer.content.decode()
    assert answer.status_code == 404
    assert "There is nothing at this address" in text
    assert "To the desk" in text
    assert 'class="deskbar"' in text
    assert text.count("<header") == 1


def test_others_see_nothing_of_the_desk(client: Client, cast: Any) -> None:
    client.force_login(cast.researcher)
    outside = client.get("/s/no-such-study/").content.decode()
    assert "deskbar" not in outside
    client.logout()
    assert "deskbar" not in client.get("/no/such/page/").content.decode()

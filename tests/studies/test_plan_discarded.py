"""A draft of the plan is thrown away by whoever says so twice."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from studies import plans, services

pytestmark = pytest.mark.django_db


def test_throwing_a_draft_away_asks_first(client: Client, cast: Any) -> None:
    services.save_draft(study=cast.study, content={**plans.EMPTY, "hypothesis": "People win."})
    client.force_login(cast.researcher)
    page = reverse("admin:desk_plan", args=[cast.study.slug])
    asked = client.post(page, {"do": "discard"})
    assert asked.status_code == 200
    assert b'value="discarded"' in asked.content
    assert plans.draft_of(cast.study) is not None
    assert client.post(page, {"do": "discarded"}).status_code == 302
    assert plans.draft_of(cast.study) is None
    assert client.post(page, {"do": "discard"}).status_code == 302, "there is nothing to ask about any more"


def test_colleagues_throw_nothing_away(client: Client, cast: Any) -> None:
    services.save_draft(study=cast.study, content={**plans.EMPTY, "hypothesis": "People win."})
    client.force_login(cast.colleague)
    page = reverse("admin:desk_plan", args=[cast.study.slug])
    assert client.post(page, {"do": "discarded"}).status_code == 404
    assert plans.draft_of(cast.study) is not None

"""A form that is sent twice makes one token, and its secret is seen whichever answer the browser shows."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse

from studies.models import AuditLine
from turingsite.api.models import ApiToken
from turingsite.api.services import make_token

pytestmark = pytest.mark.django_db


def drawn(client: Client, page: str) -> str:
    """What the form on the page carries."""
    found = re.search(r'name="once" value="([\w-]{32})"', client.get(page).content.decode())
    assert found is not None
    return found[1]


def test_a_double_click_makes_one_token(client, cast):
    client.force_login(cast.colleague)
    page = reverse("admin:desk_tokens", args=[cast.study.slug])
    sent = {"name": "notebook", "days": "30", "studies": [cast.study.slug], "once": drawn(client, page)}
    assert client.post(page, sent).status_code == 302
    first = client.get(page).context["secret"]
    client.post(page, sent)
    assert client.get(page).context["secret"] == first, "the browser shows the answer to the second click"
    token = ApiToken.objects.get()
    assert client.get("/api/v1/studies", headers={"authorization": f"Bearer {first}"}).status_code == 200
    assert AuditLine.objects.filter(action="api.token_made").count() == 1

    ApiToken.objects.update(created_at=token.created_at - timedelta(minutes=5))
    late = client.post(page, sent)
    assert late.status_code == 400
    assert late.context["secret"] == ""
    assert first not in late.content.decode(), "going back and sending again tells nothing any more"
    client.post(page, {**sent, "name": "another"})
    client.post(page, {**sent, "once": drawn(client, page)})
    assert ApiToken.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_the_same_moment_make_one_token(cast):
    gate = threading.Barrier(2)

    def click() -> str:
        try:
            gate.wait()
            return make_token(owner=cast.researcher, studies=[cast.study], name="mine", once="o" * 32).secret
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        one, other = (pool.submit(click) for _ in range(2))
        assert one.result() == other.result()
    assert ApiToken.objects.count() == 1

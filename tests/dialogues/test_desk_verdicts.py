"""The desk's list of verdicts: by the time they were given, page after page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import reverse

from dialogues.models import Verdict
from tests import factories

pytestmark = pytest.mark.django_db


def test_verdicts_are_listed_by_time_not_by_the_order_of_their_rows(client: Client, cast: Any) -> None:
    client.force_login(cast.researcher)
    # the latest is stored first; two of one moment
    hours = [60 - n for n in range(57)] + [3, 3]
    for hour in hours:
        factories.VerdictFactory(study=cast.study, given_at=factories.NOW + timedelta(hours=hour))
    given = [
        moment.strftime("%Y-%m-%d %H:%M")
        for moment in Verdict.objects.filter(study=cast.study)
        .order_by("-given_at", "-pk")
        .values_list("given_at", flat=True)
    ]
    address = reverse("admin:desk_verdicts", args=[cast.study.slug])
    cast.study.time_zone = "UTC"
    cast.study.save()
    shown: list[str] = []
    following = "?"
    while following:
        page = client.get(address + following)
        shown += [row[0][0] for row in page.context["rows"]]
        following = page.context["page"].following
    assert shown == given
    assert len(shown) > 50
    for wrong in (
        "5",
        "~",
        "2026-01-01~5",
        "0001-01-01T00:00:00+14:00~5",
        "x~y",
        "2026-01-01T00:00:00+00:00~x",
    ):
        assert client.get(f"{address}?before={quote(wrong)}").status_code == 200

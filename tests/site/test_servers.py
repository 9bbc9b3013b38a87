"""The tests really run on the database that was asked for."""

from __future__ import annotations

import os

import pytest
import redis
from django.db import connection


@pytest.mark.both
@pytest.mark.django_db
def test_database_is_the_one_asked_for(database_vendor: str) -> None:
    assert connection.vendor == database_vendor


def test_redis_answers() -> None:
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        assert client.ping()

"""Columns that several tables have: the game, who in it, seconds since the room opened."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Case, F, FloatField, Func, Q, When

from studies.models import Study
from studies.tidy import Made, column


class Seconds(Func):
    """From one time to another, as a number. PostgreSQL only."""

    template = "(EXTRACT(EPOCH FROM (%(expressions)s))::float8)"
    arg_joiner = " - "
    output_field = FloatField()

    def __init__(self, until: str, since: str) -> None:
        super().__init__(F(until), F(since))


def seconds_in_sql(until: str, since: str) -> Callable[[Study], Any]:
    return lambda study: Seconds(until, since) if connection.vendor == "postgresql" else None


def seconds_between(until: datetime | None, since: datetime | None) -> float | None:
    return None if until is None or since is None else (until - since).total_seconds()


def game_column(at: str) -> Made:
    """``at``: the lookup of the game's row, ending in "__", or ""."""
    return column("game", "code of the game", f"{at}code")


def second_column(until: str, opened: str, meaning: str = "seconds since the game began") -> Made:
    """Also in the public tier, where times are days."""
    return column(
        "second",
        meaning,
        (until, opened),
        type="number",
        unit="s",
        make=seconds_between,
        sql=seconds_in_sql(until, opened),
    )


def person_column(at: str, meaning: str) -> Made:
    """The code of the person there, empty for the agent and for erased people; ``at``: their lookup."""
    return column(
        "participant",
        meaning,
        (f"{at}__code", f"{at}__erased_at"),
        make=lambda code, erased_at: code if erased_at is None else "",
        sql=lambda study: Case(When(**{f"{at}__erased_at": None}, then=F(f"{at}__code"))),
    )


def of_games(study: Study, at: str = "") -> Q:
    """Rows of the study's games; ``at``: the lookup of the room, ending in "__", or ""."""
    return Q(**{f"{at}study": study, f"{at}group_game__isnull": False, f"{at}is_preview": False})

"""Work that waits as rows, by kind: how much there is and since when."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.apps import apps
from django.db.models import Count, Min, Model


class Unfinished(NamedTuple):
    """``number`` jobs of a ``kind`` wait or run; the ``oldest`` was asked for so many seconds ago."""

    kind: str
    name: Any  # for people, translated when shown
    number: int
    oldest: float


def kinds() -> list[type[Model]]:
    """Every table of jobs: rows that are claimed under a lease, and are queued or running until done."""
    found = []
    for model in apps.get_models():
        names = {field.name for field in model._meta.get_fields()}
        states = getattr(getattr(model, "State", None), "__members__", {})
        if {"state", "claim", "lease_until", "created_at"} <= names and {"QUEUED", "RUNNING"} <= set(states):
            found.append(model)
    return found


def unfinished(now: datetime) -> list[Unfinished]:
    rows = []
    for model in kinds():
        state = model.State  # type: ignore[attr-defined]
        waiting = model._default_manager.filter(state__in=(state.QUEUED, state.RUNNING)).order_by()
        row = waiting.aggregate(n=Count("pk"), since=Min("created_at"))
        oldest = (now - row["since"]).total_seconds() if row["since"] else 0.0
        name = model._meta.model_name or ""
        rows.append(Unfinished(name, model._meta.verbose_name_plural, row["n"], max(0.0, oldest)))
    return rows

"""The waiting room: who came, how long they waited, what became of it."""

from __future__ import annotations

from django.db.models import QuerySet

from games.group.datasets.parts import seconds_between, seconds_in_sql
from games.group.models import Ticket
from studies.models import Language, Study
from studies.tidy import column, dataset


def _tickets(study: Study) -> QuerySet[Ticket]:
    return Ticket.objects.filter(study=study, participant__erased_at=None).order_by("joined_at", "pk")


WAITING = dataset(
    "group_waiting",
    "People in the waiting room",
    models=("group.Ticket",),
    query=_tickets,
    language="language",
    primary_key=("participant", "joined_at", "state"),
    columns=(
        column("participant", "code of the person", "participant__code"),
        column("language", "language they wanted to play in", levels=Language.values),
        column("state", "what became of it", levels=Ticket.State.values),
        column("game", "code of the game they were seated in", "room__group_game__code"),
        column("joined_at", "when they came", type="datetime"),
        column("ready_at", "when they said they were ready", type="datetime"),
        column("closed_at", "when the wait was over", type="datetime"),
        column(
            "waited",
            "how long they waited; empty while they do",
            ("closed_at", "joined_at"),
            type="number",
            unit="s",
            make=seconds_between,
            sql=seconds_in_sql("closed_at", "joined_at"),
        ),
    ),
)

TABLES = (WAITING,)

"""How the group games of one study go at this moment, in counts: who waits, plays, left, what failed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Q

from dialogues.models import Nature
from games.group.models import AgentStep, Game, Ticket
from games.room.models import Seat
from studies.models import Study

RECENT = timedelta(hours=1)


class Live(NamedTuple):
    """Counts; test participants and games of tests are left out. Nothing tells how a game ended for the AI.

    ``playing``: people in games under way who are still there. ``finished``: games played to their end.
    ``stopped``: games that ended before. ``left``: of the people ever ``seated``, who left, were removed or
    were not seen any more. ``failed``: turns of agents that failed within the last hour.
    """

    waiting: int
    playing: int
    games: int
    finished: int
    stopped: int
    seated: int
    left: int
    failed: int


def live_of(study: Study, *, now: datetime) -> Live:
    real = Game.objects.filter(
        study=study, source=Game.Source.PLAYED, room__is_test=False, room__is_preview=False
    )
    games = real.aggregate(
        games=Count("pk", filter=Q(end="")),
        finished=Count("pk", filter=Q(end__in=Game.PLAYED)),
        stopped=Count("pk", filter=~Q(end__in=("", *Game.PLAYED))),
    )
    people = Seat.objects.filter(room__group_game__in=real, nature=Nature.HUMAN).aggregate(
        seated=Count("pk"),
        left=Count("pk", filter=~Q(left_why="")),
        playing=Count("pk", filter=Q(left_at=None, room__closed_at=None)),
    )
    waiting = Ticket.objects.filter(study=study, state__in=Ticket.OPEN, participant__is_test=False)
    failed = AgentStep.objects.filter(
        game__in=real,
        outcome=AgentStep.Outcome.FAILED,
        started_at__gte=now - RECENT,
    )
    return Live(waiting=waiting.count(), failed=failed.count(), **games, **people)

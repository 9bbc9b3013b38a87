"""What the desk reads of a study's group games: their list, the waiting room, reported messages, agents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet
from django.utils.translation import gettext_lazy as _

from dialogues.models import Nature
from games.group.models import AgentStep, Game, Ticket
from games.room.models import Concern, Event, HeldBack, Room, Seat
from games.room.selectors import is_present
from studies.models import Study
from turingsite.errors import NotFound

UNPLAYED = timedelta(seconds=10)  # another process takes over within six
BEFORE, AFTER = 4, 2  # messages around a reported one


class GameRow(NamedTuple):
    """A game in the list. ``here`` of ``people`` have the page open; ``gone`` left or were removed.

    ``unplayed``: no process plays its agent, so that it stays silent.
    """

    game: Game
    here: int
    people: int
    gone: int
    concerns: int
    unseen: int
    held_back: int
    failures: int
    unplayed: bool
    remaining: float | None


class Reported(NamedTuple):
    """A reported message among the lines around it, oldest first."""

    concern: Concern
    game: Game
    context: list[Event]


def games_of(study: Study) -> QuerySet[Game]:
    return Game.objects.filter(study=study).select_related("room", "agent")


def is_real(game: Game) -> bool:
    """Whether people play it whose answers count: no test, no preview."""
    return not (game.room.is_test or game.room.is_preview)


def real_games(study: Study) -> QuerySet[Game]:
    return games_of(study).filter(room__is_test=False, room__is_preview=False)


def access_game(study: Study, code: str) -> Game:
    """A game of ``study``; NotFound for any other code."""
    found = games_of(study).filter(code=code).first()
    if found is None:
        raise NotFound("no_game", _("There is no such game."))
    found.study = study
    found.room.study = study
    return found


def remaining(room: Room, now: datetime) -> float | None:
    """Seconds until the phase ends, never below 0; None where it has no end of its own."""
    return None if room.deadline is None else max(0.0, (room.deadline - now).total_seconds())


def is_unplayed(game: Game, now: datetime) -> bool:
    """Whether a game under way has had no process that plays its agent for longer than a change takes."""
    last = game.agent_lease_until or game.room.opened_at
    return not game.end and game.agent_id is not None and now - last > UNPLAYED


def rows_of(games: Sequence[Game], now: datetime) -> list[GameRow]:
    """The games with what is counted about them, in five queries however many they are."""
    rooms = [game.room_id for game in games]
    seats: dict[int, list[Seat]] = {}
    for seat in Seat.objects.filter(room__in=rooms, nature=Nature.HUMAN):
        seats.setdefault(seat.room_id, []).append(seat)
    told = Concern.objects.filter(room__in=rooms)
    concerns, unseen = _counts(told, "room"), _counts(told.filter(seen_at=None), "room")
    held = _counts(HeldBack.objects.filter(seat__room__in=rooms), "seat__room")
    failed = _counts(
        AgentStep.objects.filter(game__in=[game.pk for game in games], outcome=AgentStep.Outcome.FAILED),
        "game",
    )
    return [
        GameRow(
            game=game,
            here=sum(is_present(seat, now) for seat in seats.get(game.room_id, ())),
            people=len(seats.get(game.room_id, ())),
            gone=sum(bool(seat.left_why) for seat in seats.get(game.room_id, ())),
            concerns=concerns.get(game.room_id, 0),
            unseen=unseen.get(game.room_id, 0),
            held_back=held.get(game.room_id, 0),
            failures=failed.get(game.pk, 0),
            unplayed=is_unplayed(game, now),
            remaining=remaining(game.room, now),
        )
        for game in games
    ]


def _counts(rows: QuerySet[Any], by: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(by).annotate(n=Count("pk")))


def waiting_in(study: Study) -> list[Ticket]:
    """Who is in the waiting room, who came first above."""
    return list(
        Ticket.objects.filter(study=study, state__in=Ticket.OPEN)
        .select_related("participant")
        .order_by("joined_at", "pk")
    )


def concerns_of(study: Study, *, unseen: bool = False) -> QuerySet[Concern]:
    found = Concern.objects.filter(room__study=study, room__game="group")
    return found.filter(seen_at=None) if unseen else found


def reported(concerns: Collection[Concern]) -> list[Reported]:
    """Each concern with its game and the messages around the one it is about, or before its moment.

    Of its round alone: that there was another one tells who was not voted out.
    """
    games = {
        game.room_id: game
        for game in Game.objects.filter(room__in={one.room_id for one in concerns}).select_related("room")
    }
    return [Reported(one, games[one.room_id], _around(one)) for one in concerns if one.room_id in games]


def _around(concern: Concern) -> list[Event]:
    said = Event.objects.messages().filter(room=concern.room_id).select_related("seat")
    if concern.event is None:
        before = said.filter(at__lte=concern.at)
        after = said.none()
    else:
        said = said.filter(round=concern.event.round)
        before = said.filter(seq__lte=concern.event.seq)
        after = said.filter(seq__gt=concern.event.seq)
    return [*reversed(before.order_by("-seq")[: BEFORE + 1]), *after.order_by("seq")[:AFTER]]

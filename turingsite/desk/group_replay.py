"""A finished game on a time line: what was said and voted, and beside it what the agent decided and why."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games.group import watching
from games.group.models import AgentStep, Game
from games.group.services.looking import note_watching
from games.group.watching import Line, Step
from games.room.models import Event
from turingsite.desk.group_doors import access, door, may_watch
from turingsite.desk.group_game import standing
from turingsite.desk.group_words import PHASES, clock


class Band(NamedTuple):
    """A phase on the time line; ``x`` and ``width`` in percent."""

    phase: str
    label: Any
    round: int
    at: float
    x: str
    width: str


class Lane(NamedTuple):
    """A seat on the time line: where it wrote and voted, and up to where it was in, in percent."""

    name: str
    nature: str
    said: list[str]
    voted: list[str]
    end: str


@never_cache
@require_safe
def replay(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """The game from its first to its last moment. One that is being played is on its monitor."""
    found, now = access(request, slug, code), timezone.now()
    if not found.end:
        return redirect("admin:desk_group_game", slug, code)
    if not may_watch(request, found):
        return door(request, found, now)
    note_watching(game=found, user=request.user, now=now)
    return render(request, "desk/group_replay.html", {**standing(found, now), **_replayed(found, now)})


def _replayed(game: Game, now: datetime) -> dict[str, Any]:
    lines = watching.lines_of(game)
    steps, _settled = watching.steps_of(game, now)
    votes = [(watching.since(game, vote.at), vote) for vote in watching.votes_of(game)]
    ended = game.room.closed_at or game.ended_at or now
    length = max(
        [1.0, watching.since(game, ended), *(line.at for line in lines), *(step.at for step in steps)]
    )
    rows: list[dict[str, Any]] = [{"at": line.at, "events": [(line, clock(line.at))]} for line in lines]
    rows += [{"at": at, "vote": vote, "clock": clock(at)} for at, vote in votes]
    return {
        "length": round(length, 1),
        "length_clock": clock(length),
        "rows": sorted(rows, key=lambda row: (row["at"], "vote" not in row)),  # before what it led to
        "steps": [(step, clock(step.at)) for step in steps],
        "bands": _bands(lines, length),
        "lanes": _lanes(game, lines, votes, length),
        "marks": _marks(steps, length),
        "agent": game.agent,
    }


def _percent(at: float, length: float) -> str:
    return f"{100 * min(at, length) / length:.3f}%"


def _bands(lines: list[Line], length: float) -> list[Band]:
    starts = [line for line in lines if line.event.kind == Event.Kind.PHASE]
    ends = [*(line.at for line in starts[1:]), length]
    return [
        Band(
            phase=line.event.phase,
            label=PHASES.get(line.event.phase, line.event.phase),
            round=line.event.round,
            at=line.at,
            x=_percent(line.at, length),
            width=_percent(end - line.at, length),
        )
        for line, end in zip(starts, ends, strict=True)
    ]


def _lanes(game: Game, lines: list[Line], votes: list[tuple[float, Any]], length: float) -> list[Lane]:
    said = [line for line in lines if line.event.kind == Event.Kind.MESSAGE]
    lanes = []
    for seat in game.room.seats.order_by("position"):
        ends = [watching.since(game, at) for at in (seat.out_at, seat.left_at) if at is not None]
        lanes.append(
            Lane(
                name=seat.pseudonym,
                nature=seat.nature,
                said=[_percent(line.at, length) for line in said if line.event.seat_id == seat.pk],
                voted=[_percent(at, length) for at, vote in votes if vote.voter_id == seat.pk],
                end=_percent(min([length, *ends]), length),
            )
        )
    return lanes


def _marks(steps: list[Step], length: float) -> list[tuple[str, str]]:
    """Where the agent decided something, with what became of it; turns in which it waited are left out."""
    return [
        (_percent(row.at, length), row.step.outcome)
        for row in steps
        if row.step.outcome != AgentStep.Outcome.WAITED
    ]

"""One game as researchers see it: seats with who is there, the log, the agent's steps. Never for players."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Prefetch, QuerySet

from dialogues.models import Nature
from games.group.models import AgentCall, AgentNote, AgentStep, Candidate, Elimination, Game, Vote
from games.room.models import Concern, Event, HeldBack, Seat
from games.room.selectors import is_present

LINES = 2000  # of the log, or steps, in one answer
#: A step that is still open after so long was cut off: it is not waited for.
LONGEST_STEP = timedelta(minutes=3)


class SeatRow(NamedTuple):
    """A seat. ``voted``: in this round; ``against``: votes it got in all rounds."""

    seat: Seat
    is_machine: bool
    here: bool
    messages: int
    held_back: int
    concerns: int
    voted: bool
    against: int


class Line(NamedTuple):
    """A line of the log. ``at``: seconds since the room opened; ``late``: seconds from the sender's clock."""

    event: Event
    at: float
    late: float | None
    reported: bool
    elimination: Elimination | None


class Step(NamedTuple):
    """A step of the agent with what it weighed. ``notes``: the notes it read, by worker."""

    step: AgentStep
    at: float
    candidates: list[Candidate]
    notes: list[AgentNote]
    calls: int
    tokens: int
    open: bool


def seats_of(game: Game, now: datetime) -> list[SeatRow]:
    """The seats in their order, with what is counted of each."""
    seats = game.room.seats.select_related("participant").order_by("position")
    said = _by_seat(game.room.events.messages())
    held = _by_seat(HeldBack.objects.filter(seat__room=game.room_id))
    concerns = _by_seat(Concern.objects.filter(room=game.room_id))
    against = _by_seat(game.votes.exclude(target=None), "target")
    voted = set(game.votes.filter(round=game.room.round).values_list("voter", flat=True))
    return [
        SeatRow(
            seat=seat,
            is_machine=seat.nature == Nature.MACHINE,
            here=is_present(seat, now),
            messages=said.get(seat.pk, 0),
            held_back=held.get(seat.pk, 0),
            concerns=concerns.get(seat.pk, 0),
            voted=seat.pk in voted,
            against=against.get(seat.pk, 0),
        )
        for seat in seats
    ]


def _by_seat(rows: QuerySet[Any], by: str = "seat") -> dict[int, int]:
    return dict(rows.order_by().values_list(by).annotate(n=Count("pk")))


def lines_of(game: Game, after: int = 0) -> list[Line]:
    """At most ``LINES`` lines of the log after number ``after``, oldest first."""
    events = list(game.room.events.filter(seq__gt=after).select_related("seat").order_by("seq")[:LINES])
    about = {event.pk for event in events}
    reported = (
        set(Concern.objects.filter(event__in=about).values_list("event", flat=True)) if about else set()
    )
    out = {}
    if any(event.kind == Event.Kind.OUT for event in events):
        out = {one.round: one for one in game.eliminations.select_related("seat")}
    return [
        Line(
            event=event,
            at=since(game, event.at),
            late=(event.at - event.client_at).total_seconds() if event.client_at else None,
            reported=event.pk in reported,
            elimination=out.get(event.round) if event.kind == Event.Kind.OUT else None,
        )
        for event in events
    ]


def steps_of(game: Game, now: datetime, after: int = 0) -> tuple[list[Step], int]:
    """Steps after number ``after``, oldest first, and the number up to which nothing changes any more."""
    found = list(
        game.steps.filter(number__gt=after)
        .select_related("event")
        .prefetch_related(Prefetch("candidates", Candidate.objects.order_by("position")))
        .annotate(calls_n=Count("calls"))
        .order_by("number")[:LINES]
    )
    tokens = _tokens(found)
    wanted = {pk for step in found for pk in _note_ids(step)}
    notes = {note.pk: note for note in game.notes.filter(pk__in=wanted)} if wanted else {}
    rows = [
        Step(
            step=step,
            at=since(game, step.started_at),
            candidates=list(step.candidates.all()),
            notes=[notes[pk] for pk in _note_ids(step) if pk in notes],
            calls=step.calls_n,
            tokens=tokens.get(step.pk, 0),
            open=_is_open(step, now),
        )
        for step in found
    ]
    still = next((row.step.number for row in rows if row.open), None)
    settled = rows[-1].step.number if rows else after
    return rows, settled if still is None else still - 1


def _is_open(step: AgentStep, now: datetime) -> bool:
    return step.finished_at is None and not step.outcome and now - step.started_at < LONGEST_STEP


def _note_ids(step: AgentStep) -> list[int]:
    return [pk for pk in step.notes.values() if isinstance(pk, int)] if isinstance(step.notes, dict) else []


def _tokens(steps: Sequence[AgentStep]) -> dict[int, int]:
    found: dict[int, int] = {}
    calls = AgentCall.objects.filter(step__in=steps).values_list("step", "tokens_in", "tokens_out")
    for step, sent, got in calls:
        found[step] = found.get(step, 0) + (sent or 0) + (got or 0)
    return found


def votes_of(game: Game) -> QuerySet[Vote]:
    return game.votes.select_related("voter", "target").order_by("at", "pk")


def since(game: Game, at: datetime) -> float:
    """Seconds from the opening of the game's room to ``at``, never below 0."""
    return max(0.0, (at - game.room.opened_at).total_seconds())


def failing_notes(game: Game) -> list[AgentNote]:
    """The newest failure of every background worker."""
    newest: dict[str, AgentNote] = {}
    for note in game.notes.exclude(failure="").order_by("pk"):
        newest[note.worker] = note
    return list(newest.values())

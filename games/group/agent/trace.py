"""Writes what the agent did and why: steps, candidates, notes, calls. A step is closed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from games.group.agent.claims import STOPPED
from games.group.agent.thinking import Call
from games.group.agent.thoughts import Weighed
from games.group.agent.view import View
from games.group.models import AgentCall, AgentNote, AgentStep, Candidate, Game
from games.room.models import Event
from studies import codes

WHY = 200  # characters that are kept of a reason
VERDICT = 500
LOOKED_BACK = timedelta(days=1)
LEFT_ALONE = timedelta(seconds=30)  # a runner that still thinks closes its step itself


class Lost(Exception):
    """Another runner plays this game now: nothing more may be written here."""


def last_number(game_id: int) -> int:
    return AgentStep.objects.filter(game=game_id).aggregate(n=Max("number"))["n"] or 0


def open_step(*, game_id: int, number: int, view: View, now: datetime) -> AgentStep:
    """A turn begins; IntegrityError where another runner has taken the number."""
    return AgentStep.objects.create(
        game_id=game_id,
        number=number,
        round=view.round,
        phase=view.phase,
        after_seq=view.seq,
        notes={worker: note.pk for worker, note in view.notes.items()},
        started_at=now,
    )


def keep_candidates(*, step: AgentStep, weighed: Sequence[Weighed]) -> None:
    Candidate.objects.bulk_create(
        [
            Candidate(
                step=step,
                position=place,
                purpose=one.proposal.purpose[:80],
                text=one.proposal.text,
                chosen=one.chosen,
                verdict=one.verdict[:VERDICT],
            )
            for place, one in enumerate(weighed)
        ]
    )


def keep_draft(*, step: AgentStep, **fields: Any) -> None:
    """What is about to be sent, before it is. Lost where somebody has closed the step."""
    _update(step, **fields)


def close_step(
    *, step: AgentStep, outcome: str, now: datetime, why: str = "", event: Event | None = None, **fields: Any
) -> None:
    """The turn is over. Lost where somebody has closed it."""
    _update(step, outcome=outcome, why=why[:WHY], event=event, finished_at=now, **fields)


def _update(step: AgentStep, **fields: Any) -> None:
    if not AgentStep.objects.filter(pk=step.pk, outcome="").update(**fields):
        raise Lost
    for name, value in fields.items():
        setattr(step, name, value)


def open_steps(game_id: int) -> list[AgentStep]:
    """Turns that nobody closed, the oldest first: of a process that has stopped, or of one that broke."""
    return list(AgentStep.objects.filter(game=game_id, outcome="").order_by("number"))


def new_client_id() -> str:
    """What a message is called, as a page would call it; kept with the step before the message is sent."""
    return codes.public_code()


def keep_calls(
    *, calls: list[Call], now: datetime, step: AgentStep | None = None, note: AgentNote | None = None
) -> None:
    """Store calls and empty the list."""
    made, calls[:] = list(calls), []
    AgentCall.objects.bulk_create(
        [AgentCall(step=step, note=note, at=now, **_bounded(asdict(call))) for call in made]
    )


def _bounded(call: dict[str, Any]) -> dict[str, Any]:
    return {**call, "failure": call["failure"][:VERDICT], "model": call["model"][:120]}


def open_note(*, game_id: int, worker: str, view: View, now: datetime) -> AgentNote:
    return AgentNote.objects.create(game_id=game_id, worker=worker, after_seq=view.seq, started_at=now)


def close_note(*, note: AgentNote, value: Any = None, failure: str = "", now: datetime) -> bool:
    """The run is over, with its result or what failed; False where somebody has closed it."""
    closed = AgentNote.objects.filter(pk=note.pk, finished_at=None).update(
        value=value if value is not None else {}, failure=failure[:VERDICT], finished_at=now
    )
    return bool(closed)


def newest_notes(game_id: int) -> dict[str, AgentNote]:
    """The last finished result of each worker."""
    found = AgentNote.objects.filter(game=game_id, failure="").exclude(finished_at=None).order_by("pk")
    return {note.worker: note for note in found}


def close_leftovers(*, now: datetime) -> int:
    """Close what a killed process left open in games that ended before anybody took them over."""
    ended = Game.objects.filter(ended_at__gt=now - LOOKED_BACK, ended_at__lt=now - LEFT_ALONE)
    AgentNote.objects.filter(game__in=ended, finished_at=None).update(failure=STOPPED, finished_at=now)
    left = AgentStep.objects.filter(game__in=ended, outcome="")
    return left.update(outcome=AgentStep.Outcome.CUT, why=STOPPED, finished_at=now)


def end_notes(*, game_id: int, why: str, now: datetime) -> None:
    """Close what a stopped process left unfinished."""
    AgentNote.objects.filter(game=game_id, finished_at=None).update(failure=why[:VERDICT], finished_at=now)

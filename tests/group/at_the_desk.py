"""Rows that the desk's tests of the group game read: lines of a log, steps of the agent and its choices."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from games.group.models import AgentStep, Candidate, Game
from games.room.models import Event, Seat


def at(game: Game, position: int) -> Seat:
    return game.room.seats.get(position=position)


def said(game: Game, position: int | None, text: str = "", *, kind: str = "message", **fields: Any) -> Event:
    """The next line of the log, two seconds after the one before."""
    room = game.room
    room.last_seq += 1
    room.save(update_fields=["last_seq"])
    moment = room.opened_at + timedelta(seconds=2 * room.last_seq)
    return Event.objects.create(
        room=room,
        seq=room.last_seq,
        kind=kind,
        seat=None if position is None else at(game, position),
        text=text,
        length=len(text),
        **({"round": room.round, "phase": room.phase, "at": moment} | fields),
    )


def step(
    game: Game, decision: str = "send", outcome: str = "sent", *weighed: str, **fields: Any
) -> AgentStep:
    """The agent's next step; of what it ``weighed`` the first is chosen."""
    number = game.steps.count() + 1
    moment = game.room.opened_at + timedelta(seconds=3 * number)
    made = AgentStep.objects.create(
        game=game,
        number=number,
        decision=decision,
        outcome=outcome,
        **(
            {
                "round": game.room.round,
                "phase": game.room.phase,
                "after_seq": game.room.last_seq,
                "started_at": moment,
                "finished_at": moment + timedelta(seconds=1) if outcome else None,
            }
            | fields
        ),
    )
    for position, words in enumerate(weighed):
        Candidate.objects.create(
            step=made, position=position, purpose="answer", text=words, chosen=position == 0
        )
    return made

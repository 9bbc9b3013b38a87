"""The agent's writes in its room, by the services people's go through and by who holds the claim alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction

from games.group.agent import trace
from games.group.agent.table import Table
from games.group.agent.trace import Lost
from games.group.models import AgentStep, Game
from games.group.services.voting import cast_vote
from games.room.models import Event
from games.room.services import hold, send_message
from turingsite.errors import DomainError

Outcome = AgentStep.Outcome


@contextmanager
def floor(table: Table) -> Iterator[None]:
    """The room held, and the game still claimed by this runner; else Lost.

    Who takes a game over looks at its open step with the room held, too: so of two runners one sees what
    the other has done, and what one has not done before it never does.
    """
    with transaction.atomic():
        hold(table.room_id)
        if not Game.objects.filter(pk=table.game_id, agent_claim=table.claim, end="").exists():
            raise Lost
        yield


def send(*, table: Table, step: AgentStep, text: str, now: datetime) -> str:
    """Send the step's message under its client id, and close the step with it; the outcome."""
    with floor(table):
        try:
            sent = send_message(seat_id=table.seat.pk, text=text, client_id=step.client_id, now=now)
        except DomainError as refusal:
            trace.close_step(step=step, outcome=Outcome.REFUSED, why=refusal.code, now=now)
            return Outcome.REFUSED
        event = Event.objects.get(room=table.room_id, seq=sent.seq)
        trace.close_step(step=step, outcome=Outcome.SENT, event=event, now=now)
    return Outcome.SENT


def sent_already(*, table: Table, step: AgentStep) -> Event | None:
    """The line of the step's message, if it is in the log."""
    if not step.client_id:
        return None
    return Event.objects.filter(seat=table.seat, client_id=step.client_id).first()


def vote(*, table: Table, step: AgentStep, target: str | None, now: datetime) -> str:
    """Cast the agent's vote, and close the step with it; the outcome."""
    with floor(table):
        try:
            cast_vote(seat=table.seat, target_code=target, round=step.round, now=now)
        except DomainError as refusal:
            trace.close_step(step=step, outcome=Outcome.REFUSED, why=refusal.code, now=now)
            return Outcome.REFUSED
        trace.close_step(step=step, outcome=Outcome.VOTED, now=now)
    return Outcome.VOTED

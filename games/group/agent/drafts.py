"""A message between being chosen and being sent: how long it is typed, and what makes it wrong meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from games.group.agent.delays import Delays, between
from games.group.agent.filter import is_said, stopped
from games.group.agent.thinking import Proposal, Thinking
from games.group.agent.view import Line, View
from games.group.models import AgentStep

MOVED_ON = 8  # messages of others after which a message comes too late
NEVER_BEFORE = 1.0  # seconds from the look to the message, however short it is

Outcome = AgentStep.Outcome


@dataclass(frozen=True)
class Draft:
    """``types_at``: when typing begins; ``due``: when it is sent, computing counted in."""

    step: AgentStep
    proposal: Proposal
    round: int
    phase: str
    types_at: datetime
    due: datetime


def draft_of(*, step: AgentStep, proposal: Proposal, seconds: float, reading: float) -> Draft:
    """``seconds`` of typing after ``reading`` what was there, from the step's beginning on."""
    due = step.started_at + timedelta(seconds=max(reading + seconds, step.thinking_seconds or 0.0))
    types_at = step.started_at + timedelta(seconds=reading)
    return Draft(step, proposal, step.round, step.phase, types_at, due)


def times(text: str, view: View, delays: Delays) -> tuple[float, float]:
    """Seconds of typing ``text``, and of reading before; drawn for this moment of this game."""
    typing = delays.typing(text, view.chance("typing", view.seq, text))
    reading = between(delays.read, view.chance("read", view.seq))
    return typing, max(reading, NEVER_BEFORE - typing)


def what_hinders(draft: Draft, view: View, thinking: Thinking, moved_on: int) -> tuple[str, str] | None:
    """Outcome and why, where the message may not be sent as things are now; None where it may.

    The thinking is asked again only where others have written since.
    """
    if view.phase != draft.phase or view.round != draft.round:
        return Outcome.DROPPED, f"the phase is {view.phase} now"
    if not view.may_write:
        return Outcome.DROPPED, "it may not write any more"
    news = since(draft.step.after_seq, view)
    if is_said(draft.proposal.text, (line.text for line in news)):
        return Outcome.DROPPED, "somebody has said it"
    if len(news) >= moved_on:
        return Outcome.DROPPED, f"the talk has moved on by {len(news)} messages"
    stop = stopped(draft.proposal.text, view)
    if stop:
        return Outcome.FILTERED, stop
    if news:
        again = thinking.review(view, [draft.proposal])
        if again.chosen is None:
            said = "; ".join(again.verdicts) or again.reason
            return Outcome.DROPPED, f"after newer messages: {said}"
    return None


def since(seq: int, view: View) -> list[Line]:
    """What others have written after line ``seq``."""
    return [line for line in view.said if line.seq > seq and line.seat != view.you]

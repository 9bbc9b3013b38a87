"""One turn's thinking, from the view to what should be written or voted; a failure is part of the answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from games.group.agent.filter import stopped
from games.group.agent.thinking import (
    Ballot,
    Decision,
    Proposal,
    Report,
    Review,
    Thinking,
    ThinkingFailed,
    kinds,
)
from games.group.agent.view import View
from games.group.models import Agent, AgentStep

Outcome, Decides = AgentStep.Outcome, AgentStep.Decision


@dataclass(frozen=True)
class Weighed:
    """A candidate with what was said of it."""

    proposal: Proposal
    verdict: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Thought:
    """``outcome``: how the step ends already now, "" where there is something to type or to vote.

    ``fields``: of the step.
    """

    outcome: str
    fields: dict[str, Any]
    why: str = ""
    weighed: Sequence[Weighed] = ()
    chosen: Proposal | None = None
    ballot: Ballot | None = None


def thinking_of(agent: Agent, report: Report) -> Thinking:
    """The code behind ``agent.thinking``; one that fails at everything where there is none."""
    return kinds.get(agent.thinking).make(agent, report) if agent.thinking in kinds else Nobody(agent)


def what_to_say(thinking: Thinking, view: View) -> Thought:
    """Scheduler → generator → filter → reviewer."""
    began = time.monotonic()
    decision: Decision | None = None
    weighed: list[Weighed] = []
    review: Review | None = None
    failure = ""
    try:
        decision = thinking.decide(view)
        if decision.send:
            weighed, review = _weigh(thinking, view)
    except ThinkingFailed as broken:
        failure = told(broken)
    fields: dict[str, Any] = {"thinking_seconds": round(time.monotonic() - began, 3)}
    if decision is not None:
        fields |= {"decision": Decides.SEND if decision.send else Decides.WAIT, "reason": decision.reason}
    if failure or decision is None:
        return Thought(Outcome.FAILED, fields, failure, weighed)
    if not decision.send:
        return Thought(Outcome.WAITED, fields)
    if review is not None:
        fields["review"] = review.reason
    chosen = next((one.proposal for one in weighed if one.chosen), None)
    if chosen is not None:
        return Thought("", fields, weighed=weighed, chosen=chosen)
    if weighed and review is None:
        return Thought(Outcome.FILTERED, fields, weighed[0].verdict, weighed)
    return Thought(Outcome.NOTHING, fields, weighed=weighed)


def _weigh(thinking: Thinking, view: View) -> tuple[list[Weighed], Review | None]:
    """The candidates, those that the filter passes reviewed; no review where it passes none."""
    candidates = list(thinking.propose(view))
    if len({one.purpose for one in candidates}) < len(candidates):
        raise ThinkingFailed("same_purpose", "Two candidates have the same purpose.")
    stops = {one: stopped(one.text, view) for one in candidates}
    passed = [one for one in candidates if not stops[one]]
    if not passed:
        return [Weighed(one, stops[one]) for one in candidates], None
    review = thinking.review(view, passed)
    if review.chosen is not None and not 0 <= review.chosen < len(passed):
        raise ThinkingFailed("no_such_candidate", "The reviewer chose a candidate that is not there.")
    words = dict(zip(passed, review.verdicts, strict=False))
    chosen = None if review.chosen is None else passed[review.chosen]
    return [
        Weighed(one, stops[one] or words.get(one, ""), chosen=one is chosen) for one in candidates
    ], review


def whom_to_vote_for(thinking: Thinking, view: View) -> Thought:
    """The ballot; a seat that cannot be voted for is a failure."""
    began = time.monotonic()
    ballot, failure = None, ""
    try:
        ballot = thinking.vote(view)
    except ThinkingFailed as broken:
        failure = told(broken)
    fields: dict[str, Any] = {
        "decision": Decides.VOTE,
        "thinking_seconds": round(time.monotonic() - began, 3),
    }
    if ballot is None:
        return Thought(Outcome.FAILED, fields, failure)
    fields["reason"] = ballot.reason
    if ballot.target is not None and ballot.target not in view.votes_for:
        return Thought(Outcome.FAILED, fields, "it named nobody who can be voted for")
    if ballot.target is None and not view.abstain:
        return Thought(Outcome.NOTHING, fields)
    return Thought("", fields, ballot=ballot)


def told(failure: BaseException) -> str:
    """A failure in a line for researchers."""
    return f"{type(failure).__name__}: {failure}"


class Nobody:
    """Where an agent names a way to think that this site does not have."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.thinking

    def _fail(self) -> NoReturn:
        raise ThinkingFailed("unknown_thinking", "No way to think is called %(name)s.", {"name": self.name})

    def decide(self, view: View) -> Decision:
        self._fail()

    def propose(self, view: View) -> Sequence[Proposal]:
        self._fail()

    def review(self, view: View, candidates: Sequence[Proposal]) -> Review:
        self._fail()

    def vote(self, view: View) -> Ballot:
        self._fail()

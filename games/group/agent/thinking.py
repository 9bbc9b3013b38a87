"""The seam behind which a script or a language model decides: who replaces the thinking writes one class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from games.group.agent.view import View
from games.group.models import Agent
from studies.registry import Registry
from turingsite.errors import DomainError

if TYPE_CHECKING:
    from studies.registry import Text


class ThinkingFailed(DomainError):
    """The thinking gave nothing that can be used. The agent stays silent; staff read why."""

    status = 503
    retryable = True


class Decision(NamedTuple):
    """The scheduler's word: write now, or wait."""

    send: bool
    reason: str


class Proposal(NamedTuple):
    """A message that could be written, and what for. No two of a turn have the same purpose."""

    purpose: str
    text: str


class Review(NamedTuple):
    """``chosen``: place of the one to send, None for none of them. ``verdicts``: a word on each, in order."""

    chosen: int | None
    reason: str
    verdicts: Sequence[str] = ()


class Ballot(NamedTuple):
    """The seat to vote for; None: no vote."""

    target: str | None
    reason: str


@dataclass(frozen=True)
class Call:
    """One call to a model, for the trace. ``purpose``: scheduler, generator, reviewer, vote, worker."""

    purpose: str
    model: str
    prompt_sha256: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None
    failure: str = ""


#: Where calls are told, as they happen; also those that fail.
Report = Callable[[Call], None]


class Thinking(Protocol):
    """Thinks for one seat of one game; called from one thread at a time, without a database connection.

    Each raises ThinkingFailed (or whatever breaks): then nothing is written and the step says so. What the
    thinking remembers is lost with its process: it must be able to think from the view alone.
    """

    def decide(self, view: View) -> Decision: ...

    def propose(self, view: View) -> Sequence[Proposal]: ...

    def review(self, view: View, candidates: Sequence[Proposal]) -> Review:
        """Pick one, or none. Asked again with the one that was picked, where others wrote meanwhile."""
        ...

    def vote(self, view: View) -> Ballot: ...


@dataclass(frozen=True)
class Kind:
    """A way to think by its name (``Agent.thinking``). ``title``: what researchers read of it on the desk,
    begun in lower case. ``make``: for one game, telling calls.
    """

    key: str
    title: Text
    make: Callable[[Agent, Report], Thinking]


kinds: Registry[Kind] = Registry("way to think")

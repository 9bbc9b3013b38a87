"""What the agent sees: the frames a player's page gets, read into rows, and its own notes. Nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

MESSAGE = "message"


@dataclass(frozen=True)
class Line:
    """A line of the log. ``seat``: who wrote it, or whom it is about; None where it is about nobody."""

    seq: int
    kind: str
    round: int
    phase: str
    at: datetime
    seat: str | None
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Player:
    seat: str
    name: str
    out: bool


@dataclass(frozen=True)
class Note:
    """The newest result of a worker. ``pk``: where the trace keeps it."""

    pk: int
    value: Mapping[str, Any]


@dataclass(frozen=True)
class View:
    """One look at the room from the agent's seat ``you``.

    ``remaining``: seconds of the phase left, None without a clock. ``votes_for``: the seats it may vote for
    now. ``seed`` makes draws the same for the same game; it tells nothing about the room.
    """

    you: str
    language: str
    phase: str
    phase_number: int
    round: int
    may_write: bool
    remaining: float | None
    max_length: int
    topic: str
    votes_for: tuple[str, ...]
    voted: bool
    abstain: bool
    closed: bool
    players: tuple[Player, ...]
    lines: tuple[Line, ...]
    notes: Mapping[str, Note]
    seed: str
    now: datetime

    @property
    def seq(self) -> int:
        """The number of the newest line it has read."""
        return self.lines[-1].seq if self.lines else 0

    @property
    def name(self) -> str:
        """The agent's own pseudonym."""
        return self.name_of(self.you)

    @property
    def said(self) -> list[Line]:
        """All messages so far."""
        return [line for line in self.lines if line.kind == MESSAGE]

    @property
    def own(self) -> list[Line]:
        """What the agent itself has written."""
        return [line for line in self.said if line.seat == self.you]

    @property
    def others(self) -> tuple[Player, ...]:
        """The living players beside the agent."""
        return tuple(player for player in self.players if not player.out and player.seat != self.you)

    @property
    def phase_began(self) -> datetime | None:
        """When the running phase began, by its line in the log."""
        return next((line.at for line in reversed(self.lines) if line.kind == "phase"), None)

    def name_of(self, seat: str | None) -> str:
        return next((player.name for player in self.players if player.seat == seat), "")

    def since(self, moment: datetime) -> float:
        """Seconds from ``moment`` to this look."""
        return (self.now - moment).total_seconds()

    def chance(self, *words: object) -> Random:
        """A draw of its own for these words: the same in the same game, in whichever process."""
        return Random("/".join([self.seed, *map(str, words)]))


def line_of(frame: Mapping[str, Any]) -> Line:
    """A line from its frame (``games.room.presenters.event_frame``)."""
    return Line(
        seq=frame["seq"],
        kind=frame["kind"],
        round=frame["round"],
        phase=frame["phase"],
        at=datetime.fromisoformat(frame["at"]),
        seat=frame["seat"],
        text=frame["text"],
        data=frame["data"],
    )


def view_of(
    *,
    state: Mapping[str, Any],
    lines: tuple[Line, ...],
    notes: Mapping[str, Note],
    language: str,
    seed: str,
    remaining: float | None,
    now: datetime,
) -> View:
    """The view from a state frame (``room_state``) and the lines read so far."""
    you, play = state["you"], state["play"]
    return View(
        you=you["seat"],
        language=language,
        phase=state["phase"],
        phase_number=state["phase_number"],
        round=state["round"],
        may_write=you["may_write"],
        remaining=remaining,
        max_length=state["max_length"],
        topic=str(play.get("topic", "")),
        votes_for=tuple(play.get("votes_for", ())),
        voted=bool(play.get("voted", False)),
        abstain=bool(play.get("abstain", False)),
        closed=state["closed"],
        players=tuple(Player(seat["seat"], seat["name"], seat["out"]) for seat in state["seats"]),
        lines=lines,
        notes=notes,
        seed=seed,
        now=now,
    )

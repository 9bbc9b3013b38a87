"""A game as a file tells it, whatever the file: seats, log, votes, who went out, answers. No models.

Times are seconds since the game's beginning. Seats are named by the keys of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from dialogues.importing.notes import Note, any_stops

#: Players of one table that are taken in.
LEAST_PLAYERS, MOST_PLAYERS = 3, 20
MOST_ROUNDS = 100
LONGEST_ID, LONGEST_NAME, LONGEST_TEXT = 120, 40, 5000
LONGEST_GAME = 30 * 24 * 3600.0  # s


class FileSeat(NamedTuple):
    """``person``: tells people apart within the file. ``out_round``: when they were put out; None: never."""

    key: str
    pseudonym: str
    is_agent: bool
    person: str
    out_round: int | None = None
    out_second: float | None = None
    left: str = ""


class FileLine(NamedTuple):
    """A line of the log. ``words`` and ``question``: what was counted, where the text is not in the file."""

    kind: str
    round: int
    phase: str
    second: float
    seat: str = ""
    text: str = ""
    characters: int = 0
    words: int | None = None
    question: bool | None = None
    edited: bool = False
    withdrawn: bool = False
    data: Mapping[str, Any] = {}


class FileVote(NamedTuple):
    round: int
    voter: str
    target: str | None
    second: float


class FileElimination(NamedTuple):
    round: int
    seat: str
    living: int
    tally: Mapping[str, int]
    tied: Sequence[str]
    draw: Mapping[str, Any]
    second: float


class FileAnswer(NamedTuple):
    seat: str
    question: str
    value: Any
    scale: Sequence[str]
    language: str = "en"


class FileAgent(NamedTuple):
    """``sha256``: of an agent of this program, found again where it is stored."""

    key: str
    name: str
    model: str = ""
    sha256: str = ""
    parameters: Mapping[str, Any] = {}


@dataclass
class FileGame:
    """``where``: its folder, or the line of a file. ``notes``: all that stands against it."""

    where: str
    line: int
    id: str = ""
    language: str = "en"
    day: date | None = None
    seconds: float = 0.0
    end: str = ""
    rounds: int = 1
    seed: int = 0
    rules: dict[str, Any] = field(default_factory=dict)
    agent: FileAgent | None = None
    is_test: bool = False
    is_pilot: bool = False
    seats: list[FileSeat] = field(default_factory=list)
    log: list[FileLine] = field(default_factory=list)
    votes: list[FileVote] = field(default_factory=list)
    eliminations: list[FileElimination] = field(default_factory=list)
    answers: list[FileAnswer] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        return any_stops(self.notes)

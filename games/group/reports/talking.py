"""Messages of the games that count: who wrote when, what answers a question, how soon after the last one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from games.group.reports.given import DATASETS, Given, Played
from studies.reports import Tables

TABLES = (*DATASETS, "group_messages")
COLUMNS = {
    "group_messages": (
        "game", "seq", "round", "phase", "seat", "second", "characters", "words", "question",
    ),
}  # fmt: skip
DISCUSSION = "discussion"  # what is written in other phases of imported games is in no figure
ANSWER_WITHIN = 30.0  # s after the question


class Message(NamedTuple):
    """``latency``: seconds since the last message, where that was somebody else's of the same round.
    ``answers``: the writer's first message after somebody else's question, within ``ANSWER_WITHIN``."""

    game: Played
    seat: str
    is_agent: bool
    number: int
    characters: int
    words: int | None
    question: bool | None
    answers: bool
    latency: float | None


class Turn(NamedTuple):
    """A player in a round of talk, with how many messages they wrote in it."""

    game: Played
    seat: str
    is_agent: bool
    number: int
    messages: int


def messages_of(data: Given, tables: Tables) -> list[Message]:
    """What was written in discussions, in order."""
    games = {game.code: game for game in data.games}
    rows: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in tables["group_messages"]:
        if row["game"] in games and row["phase"] == DISCUSSION:
            rows.setdefault((row["game"], int(row["round"])), []).append(row)
    return [
        message
        for (code, number), own in rows.items()
        for message in _of_round(games[code], number, sorted(own, key=lambda row: int(row["seq"])))
    ]


def _of_round(game: Played, number: int, rows: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    asked: dict[str, float] = {}  # by who asked: when they did last
    answered: dict[str, float] = {}  # by who wrote: when they did last
    before: Mapping[str, Any] | None = None
    for row in rows:
        seat, at = str(row["seat"]), float(row["second"])
        since = answered.get(seat, float("-inf"))
        answers = any(
            since <= when and at - when <= ANSWER_WITHIN for who, when in asked.items() if who != seat
        )
        other = before is not None and before["seat"] != seat
        yield Message(
            game,
            seat,
            game.seats[seat].is_agent,
            number,
            int(row["characters"]),
            row["words"],
            row["question"],
            answers,
            at - float(before["second"]) if before is not None and other else None,
        )
        answered[seat], before = at, row
        if row["question"]:
            asked[seat] = at


def turns_of(data: Given, messages: Sequence[Message]) -> list[Turn]:
    """Every player in every round of talk in which they were at the table, also who wrote nothing."""
    counted = Counter((message.game.code, message.seat, message.number) for message in messages)
    return [
        Turn(game, seat.code, seat.is_agent, number, counted[game.code, seat.code, number])
        for game in data.games
        for number in range(1, game.last_round + 1)
        for seat in game.living(number)
    ]

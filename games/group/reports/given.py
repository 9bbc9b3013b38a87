"""The games that count, from tidy rows: who sat in them, who was out when, which chance levels they have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from dialogues.models import Nature
from games.group.models import Game
from studies.estimates import FEWEST_OPINIONS
from studies.reports import Basis, Options, Tables
from turingsite.stats import chance

#: Tables that every report on the game is given, and what is read of them.
DATASETS = ("group_games", "group_seats", "group_eliminations")
COLUMNS = {
    "group_games": (
        "game", "language", "people", "agent", "agent_version", "agent_votes", "variant", "end", "rounds",
        "exclusion",
    ),
    "group_seats": ("game", "seat", "position", "nature", "participant", "out_round"),
    "group_eliminations": ("game", "round", "seat", "living", "tally", "tied", "draw"),
}  # fmt: skip

ALL = "all"
FEWEST = FEWEST_OPINIONS  # games, votes, messages; of fewer no figure is shown


class Seat(NamedTuple):
    """A place at the table. ``out``: the round in which it went, None: it never did."""

    code: str
    position: int
    is_agent: bool
    person: str
    out: int | None

    def plays(self, number: int) -> bool:
        """Whether it is there in the discussion and the vote of a round."""
        return self.out is None or self.out >= number


class Round(NamedTuple):
    """How a round was decided: who went, of how many, with which votes; ``tied`` as it was drawn from."""

    number: int
    seat: str
    living: int
    tally: Mapping[str, int]
    tied: Sequence[str]
    draw: Mapping[str, Any]


@dataclass(frozen=True)
class Played:
    """One game that counts."""

    code: str
    language: str
    people: int
    agent_name: str
    agent_votes: bool | None
    variant: str
    survived: bool
    last_round: int
    seats: Mapping[str, Seat]
    rounds: Sequence[Round]

    @property
    def players(self) -> int:
        return self.people + 1

    @property
    def agent(self) -> Seat | None:
        return next((seat for seat in self.seats.values() if seat.is_agent), None)

    @property
    def own_rules(self) -> bool:
        """Whether it ends as ours do, so that chance levels of a whole game hold."""
        return not self.variant and self.players >= 3

    def living(self, number: int) -> list[Seat]:
        return [seat for seat in self.seats.values() if seat.plays(number)]

    def has_agent(self, number: int) -> bool:
        agent = self.agent
        return agent is not None and agent.plays(number)

    @property
    def rounds_survived(self) -> int:
        """0 to people − 1."""
        agent = self.agent
        return self.people - 1 if agent is None or agent.out is None else agent.out - 1

    @property
    def votes(self) -> bool:
        """Whether the agent votes; unknown counts as voting."""
        return self.agent_votes is not False


@dataclass(frozen=True)
class Given:
    """The games that count and what was left out; ``languages`` and ``agents`` as they occur."""

    games: Sequence[Played]
    basis: Basis
    languages: Sequence[str] = field(default=())
    agents: Sequence[str] = field(default=())

    def scopes(self) -> list[Scope]:
        """All games, then by language and by agent where there are several of either."""
        found = [Scope(ALL, ALL, lambda game: True)]
        if len(self.languages) > 1:
            found += [Scope("language", one, _language(one)) for one in self.languages]
        if len(self.agents) > 1:
            found += [Scope("agent", one, _agent(one)) for one in self.agents]
        return found


class Scope(NamedTuple):
    """Which games a row is about: ``by`` is all, language or agent."""

    by: str
    level: str
    holds: Callable[[Played], bool]


def _language(value: str) -> Callable[[Played], bool]:
    return lambda game: game.language == value


def _agent(value: str) -> Callable[[Played], bool]:
    return lambda game: game.agent_name == value


def given(tables: Tables, options: Options) -> Given:
    """Games that were played to their end and are neither test nor pilot; only those of one language where
    one is asked for."""
    inside = [row for row in tables["group_games"] if options.language in ("", str(row["language"]))]
    counted = [row for row in inside if not row["exclusion"] and row["end"] in Game.PLAYED]
    excluded = Counter(str(row["exclusion"]) for row in inside if row["exclusion"])
    seats = _by_game(tables, "group_seats", {row["game"] for row in counted})
    rounds = _by_game(tables, "group_eliminations", {row["game"] for row in counted})
    games = [_played(row, seats[row["game"]], rounds[row["game"]]) for row in counted]
    persons = {
        seat.person or seat.code for game in games for seat in game.seats.values() if not seat.is_agent
    }
    return Given(
        games,
        Basis(
            n=len(games),
            persons=len(persons),
            dialogues=0,
            excluded=dict(sorted(excluded.items())),
            excluded_total=excluded.total(),
            of="games",
        ),
        sorted({game.language for game in games}),
        sorted({game.agent_name for game in games}),
    )


def _by_game(tables: Tables, key: str, wanted: set[Any]) -> dict[Any, list[Mapping[str, Any]]]:
    found: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for row in tables[key]:
        if row["game"] in wanted:
            found[row["game"]].append(row)
    return found


def _played(
    row: Mapping[str, Any], seats: Sequence[Mapping[str, Any]], rounds: Sequence[Mapping[str, Any]]
) -> Played:
    version = row["agent_version"]
    return Played(
        code=str(row["game"]),
        language=str(row["language"]),
        people=int(row["people"]),
        agent_name=f"{row['agent']} v{version}" if row["agent"] else "",
        agent_votes=row["agent_votes"],
        variant=str(row["variant"] or ""),
        survived=row["end"] == Game.End.SURVIVED,
        last_round=int(row["rounds"]),
        seats={
            str(seat["seat"]): Seat(
                str(seat["seat"]),
                int(seat["position"]),
                seat["nature"] == Nature.MACHINE,
                str(seat["participant"] or ""),
                seat["out_round"],
            )
            for seat in sorted(seats, key=lambda one: int(one["position"]))
        },
        rounds=[
            Round(
                int(one["round"]), str(one["seat"]), int(one["living"]), one["tally"] or {},
                one["tied"] or [], one["draw"] or {},
            )
            for one in sorted(rounds, key=lambda one: int(one["round"]))
        ],
    )  # fmt: skip


# Chance levels of one game

OWN, ELIMINATION, SILENT = "own", "elimination", "silent"


def survival_level(game: Played, baseline: str) -> Fraction:
    """``OWN``: random voting by the game's own rule; ``SILENT``: random voting, the agent silent."""
    return chance.survival(game.players, agent_votes=_votes(game, baseline))


def rounds_level(game: Played) -> Fraction:
    return chance.rounds_survived(game.players, agent_votes=game.votes)


def rounds_played_level(game: Played) -> Fraction:
    return chance.rounds_played(game.players, agent_votes=game.votes)


def out_level(game: Played, living: int, baseline: str) -> Fraction:
    votes = _votes(game, baseline)
    return chance.elimination_out(living) if votes is None else chance.voting_out(living, agent_votes=votes)


def _votes(game: Played, baseline: str) -> bool | None:
    return {OWN: game.votes, ELIMINATION: None, SILENT: False}[baseline]


def headline(games: Sequence[Played]) -> str:
    """The baseline that follows from whether the agent votes; ``OWN`` where games differ in it."""
    rules = {game.votes for game in games}
    return OWN if len(rules) > 1 else SILENT if rules == {False} else ELIMINATION

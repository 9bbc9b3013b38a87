"""Recompute the headlines of a study's group games from the tables beside this file.

Unpack the export and run ``python reproduce_group.py`` in it. Needs Python 3.9 or newer and nothing else; an
export with Parquet tables alone also needs pyarrow. Every figure in headlines_group.json is made anew here,
without the program that wrote it, and compared. Ends with 0 where all agree, with 1 and the differences where
not.

Survival: share of games in which the AI was never voted out until one person was left. Chance by random
elimination: with n players, the product of 1 - 1/m for m from n down to 3, which is 2/n. By random voting
with a silent agent: every person names one of the other living players, the most-named goes, ties are
drawn; counted person by person. First votes: people's votes in the first round on the AI; chance 1/(m - 1)
among m players, pooled over votes. Participation: messages in discussions per player and round at the
table; words per message.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FEWEST = 5  # games, votes, messages; fewer are not shown
TOLERANCE = 1e-9
ALL = "all"
NAMES = ("report", "language", "baseline", "measure", "who")


class Problem(Exception):
    """What keeps the figures from being made, in words."""


# Reading


def tables_of(folder: Path, key: str) -> Iterator[dict[str, Any]]:
    """Rows of a table from whichever format is there. Cells are text in CSV, values in the others."""
    folder = folder / "tables"
    if (folder / f"{key}.csv").exists():
        csv.field_size_limit(2**31 - 1)
        with (folder / f"{key}.csv").open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                # An apostrophe in front keeps a spreadsheet from running the text; it is not part of it.
                yield {name: cell[1:] if cell.startswith("'") else cell for name, cell in row.items()}
    elif (folder / f"{key}.jsonl").exists():
        with (folder / f"{key}.jsonl").open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)
    elif (folder / f"{key}.parquet").exists():
        try:
            from pyarrow import parquet
        except ImportError:
            raise Problem("This export has Parquet tables only: install pyarrow to read them.") from None
        for batch in parquet.ParquetFile(folder / f"{key}.parquet").iter_batches():
            yield from batch.to_pylist()
    else:
        raise Problem(f"tables/{key} is missing: unpack the whole export first.")


def headlines_of(folder: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads((folder / "headlines_group.json").read_text(encoding="utf-8"))
        return list(found["headlines"])
    except FileNotFoundError:
        raise Problem("headlines_group.json is missing: unpack the whole export first.") from None
    except (ValueError, KeyError, TypeError):
        raise Problem("headlines_group.json is not as it was written.") from None


def number_of(cell: Any) -> int | None:
    return None if cell in (None, "") else int(cell)


class Game:
    """A game that counts: its players and when each went out."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.language = row["language"]
        self.players = int(row["people"]) + 1
        self.survived = row["end"] == "survived"
        self.rounds = int(row["rounds"])
        self.own_rules = not row["variant"] and self.players >= 3
        self.out: dict[str, int | None] = {}
        self.agents: set[str] = set()
        self.living_first = 0

    def plays(self, seat: str, number: int) -> bool:
        out = self.out[seat]
        return out is None or out >= number


def games_of(folder: Path) -> dict[str, Game]:
    games = {
        row["game"]: Game(row)
        for row in tables_of(folder, "group_games")
        if not row["exclusion"] and row["end"] in ("agent_out", "survived")
    }
    for row in tables_of(folder, "group_seats"):
        if row["game"] in games:
            games[row["game"]].out[row["seat"]] = number_of(row["out_round"])
            if row["nature"] == "machine":
                games[row["game"]].agents.add(row["seat"])
    for row in tables_of(folder, "group_eliminations"):
        if row["game"] in games and int(row["round"]) == 1:
            games[row["game"]].living_first = int(row["living"])
    return games


# Chance


@cache
def silent_out(living: int) -> Fraction:
    """Chance that a silent agent goes out of ``living`` players when all others name somebody blindly."""
    people = living - 1

    @cache
    def ways(agent: int, waiting: tuple[int, ...], done: tuple[int, ...]) -> Fraction:
        """Ballots, each weighted by the agent's chance to go; how often each person was named so far, those
        who have yet to vote and those who have."""
        if not waiting:
            most = max((*done, agent))
            return Fraction(1, 1 + done.count(agent)) if agent == most else Fraction(0)
        voter, others = waiting[-1], waiting[:-1]
        after = tuple(sorted((*done, voter)))
        total = ways(agent + 1, others, after)
        for named, times in Counter(others).items():
            left = list(others)
            left[left.index(named)] += 1
            total += times * ways(agent, tuple(sorted(left)), after)
        for named, times in Counter(done).items():
            seen = list(done)
            seen[seen.index(named)] += 1
            total += times * ways(agent, others, tuple(sorted((*seen, voter))))
        return total

    every: int = people**people
    return ways(0, (0,) * people, ()) / every


def chance_of(players: int, baseline: str) -> Fraction:
    stays = Fraction(1)
    for living in range(3, players + 1):
        stays *= 1 - (Fraction(1, living) if baseline == "elimination" else silent_out(living))
    return stays


# The figures


def survival(headline: dict[str, Any], games: dict[str, Game]) -> dict[str, Any]:
    own = [game for game in games.values() if game.own_rules]
    survived = sum(game.survived for game in own)
    chance = float(sum(chance_of(game.players, headline["baseline"]) for game in own)) / len(own)
    share = survived / len(own) if len(own) >= FEWEST else None
    return {
        "n": len(own),
        "survived": survived,
        "share": share,
        "chance": chance,
        "difference": None if share is None else share - chance,
    }


def first_votes(folder: Path, games: dict[str, Game]) -> dict[str, Any]:
    n = on_agent = 0
    level = Fraction(0)
    for row in tables_of(folder, "group_votes"):
        game = games.get(row["game"])
        if game is None or int(row["round"]) != 1 or not row["target"] or row["voter"] in game.agents:
            continue
        if not any(game.plays(seat, 1) for seat in game.agents):
            continue
        living = game.living_first or sum(game.plays(seat, 1) for seat in game.out)
        n += 1
        on_agent += row["target"] in game.agents
        level += Fraction(1, living - 1)
    return {
        "n": n,
        "on_agent": on_agent,
        "share": on_agent / n if n >= FEWEST else None,
        "chance": float(level / n) if n else None,
    }


def participation(headline: dict[str, Any], folder: Path, games: dict[str, Game]) -> dict[str, Any]:
    of_agent = headline["who"] == "agent"
    messages: Counter[tuple[str, str, int]] = Counter()
    words: list[int] = []
    for row in tables_of(folder, "group_messages"):
        game = games.get(row["game"])
        if game is None or row["phase"] != "discussion" or (row["seat"] in game.agents) != of_agent:
            continue
        messages[row["game"], row["seat"], int(row["round"])] += 1
        count = number_of(row["words"])
        words += [] if count is None else [count]
    values = words
    if headline["measure"] == "messages":
        values = [
            messages[code, seat, number]
            for code, game in games.items()
            for number in range(1, game.rounds + 1)
            for seat in game.out
            if game.plays(seat, number) and (seat in game.agents) == of_agent
        ]
    n = len(values)
    return {"n": n, "value": sum(values) / n if n >= FEWEST else None}


def recompute(headline: dict[str, Any], folder: Path, every: dict[str, Game]) -> dict[str, Any]:
    games = {code: game for code, game in every.items() if headline["language"] in (ALL, game.language)}
    if headline["report"] == "group-survival":
        return survival(headline, games)
    if headline["report"] == "group-votes":
        return first_votes(folder, games)
    if headline["report"] == "group-participation":
        return participation(headline, folder, games)
    raise Problem(f"headlines_group.json has a report that this script does not know: {headline['report']}.")


# Comparing


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, (int, float)):
        return abs(one - other) <= TOLERANCE
    return bool(one == other)


def differences(headline: dict[str, Any], folder: Path, games: dict[str, Game]) -> list[str]:
    found = recompute(headline, folder, games)
    name = ", ".join(str(headline[key]) for key in NAMES if key in headline)
    return [
        f"{name}: {key} is {headline.get(key)} in headlines_group.json, {value} from the tables."
        for key, value in found.items()
        if not same(value, headline.get(key))
    ]


def main(folder: Path = HERE) -> int:
    def say(line: str) -> None:
        sys.stdout.write(line + "\n")

    try:
        headlines = headlines_of(folder)
        games = games_of(folder)
        wrong = [found for found in (differences(one, folder, games) for one in headlines) if found]
    except Problem as problem:
        say(str(problem))
        return 1
    except (KeyError, ValueError, TypeError, ZeroDivisionError) as problem:
        say(f"The tables cannot be read as they were written: {problem!r}.")
        return 1
    for line in (line for found in wrong for line in found):
        say(line)
    good = len(headlines) - len(wrong)
    say(f"{good} of {len(headlines)} headlines come out of the tables ({len(games)} games).")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

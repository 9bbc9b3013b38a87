"""What becomes of one machine among people who guess: chance levels of the group game, exact fractions.

A room of n players, one of them the agent, loses one player a round until two are left: n − 2 rounds at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from .arrays import floats
from .intervals import Estimate, Lack

#: Players left when the game is over: the agent and one person.
LAST = 2
DRAWS = 10_000
_BLOCK = 1_000_000  # places drawn at a time


def elimination_out(living: int) -> Fraction:
    """Chance that the agent goes out of ``living`` players when one goes at random: 1/m.

    Below three players there is no round: ValueError.
    """
    _check_living(living)
    return Fraction(1, living)


@lru_cache(maxsize=256)
def voting_out(living: int, *, agent_votes: bool) -> Fraction:
    """Chance that the agent goes out of ``living`` players when everybody votes blindly; exact.

    Every voter picks evenly among the other living players, the most-voted is out, ties are drawn evenly.
    Where the agent votes all players are alike, so it is 1/m. Where it is silent it has m − 1 possible
    accusers and a person m − 2, so it goes more often. Counted over all (m − 1)^(m − 1) ballots: those with
    the agent at a votes, t people tied with it and nobody above weigh 1/(1 + t). Ballots are grouped by
    tallies; that nobody votes for themselves comes in by inclusion and exclusion (those of a set S who would
    bring each of S one vote, and the others are free).

    m = 6, 5, 4, 3, agent silent: 704/3125, 9/32, 10/27, 1/2. Below three players: ValueError.
    """
    _check_living(living)
    if agent_votes:
        return Fraction(1, living)
    people = living - 1
    out = Fraction(0)
    for selfish in range(people + 1):
        free = people - selfish
        ballots = sum((_ballots_out(people, selfish, agent, free) for agent in range(free + 1)), Fraction(0))
        out += (-1) ** selfish * math.comb(people, selfish) * ballots
    every: int = people**people
    return out / every


def _ballots_out(people: int, selfish: int, agent: int, free: int) -> Fraction:
    """Σ 1/(1 + tied) over the sets of ``free`` ballots that give the agent ``agent`` and nobody more.

    ``selfish`` of the people have one vote already. Person by person; ``ways`` by how many are tied with the
    agent and how many ballots are spent.
    """
    left = free - agent
    tied = [[int(spent == 0) for spent in range(left + 1)]]
    for person in range(people):
        most = agent - (1 if person < selfish else 0)  # ballots with which they stand level with the agent
        grown = [[0] * (left + 1) for _more in range(len(tied) + 1)]
        for ties, by_spent in enumerate(tied):
            for spent, ways in enumerate(by_spent):
                if ways:
                    for given in range(min(most, left - spent) + 1):
                        level = ties + (given == most)
                        grown[level][spent + given] += ways * math.comb(left - spent, given)
        tied = grown
    whole = sum((Fraction(by_spent[left], 1 + ties) for ties, by_spent in enumerate(tied)), Fraction(0))
    return whole * math.comb(free, agent)


def survival(players: int, *, agent_votes: bool | None = None) -> Fraction:
    """Chance that the agent is one of the last two of ``players``: Π (1 − P(out of m)), m from n down to 3.

    ``agent_votes`` None: random elimination, which is 2/n. Else random voting, which equals it where the
    agent votes. n = 6, 5 with a silent agent: 105179/600000, 391/1728. Below three players: ValueError.
    """
    _check_living(players)
    return math.prod((1 - _out(m, agent_votes) for m in range(players, LAST, -1)), start=Fraction(1))


def rounds_survived(players: int, *, agent_votes: bool | None = None) -> Fraction:
    """Rounds that the agent is expected to survive by chance, 0 to n − 2: Σ_k P(survives k rounds).

    Random elimination: n = 6, 5 give 7/3 and 9/5.
    """
    return sum(_survived(players, agent_votes), Fraction(0))


def rounds_played(players: int, *, agent_votes: bool | None = None) -> Fraction:
    """Rounds that a game is expected to have by chance: 1 + Σ_k P(survives k rounds), k < n − 2.

    Random elimination: n = 6, 5 give 3 and 12/5.
    """
    return 1 + sum(_survived(players, agent_votes)[:-1], Fraction(0))


def vote_chance(living: int) -> Fraction:
    """Chance that one voter who guesses names the agent among the ``living`` − 1 others."""
    if living < 2:
        raise ValueError("a voter has somebody to vote for")
    return Fraction(1, living - 1)


def at_least(chances: Iterable[float | Fraction], k: int) -> float:
    """P(at least ``k`` of independent events happen), each with its own chance; exact (Poisson binomial).

    The distribution of the number is built event by event; all terms are positive, so rounding stays at the
    last digits. Source: Chen & Liu 1997, Statistica Sinica 7:875.
    """
    found = [float(one) for one in chances]
    if any(not 0 <= one <= 1 for one in found):
        raise ValueError("chances lie between 0 and 1")
    if k > len(found):
        return 0.0
    if k <= 0:
        return 1.0
    number = np.array([1.0])
    for one in found:
        number = np.convolve(number, [1 - one, one])
    return min(1.0, math.fsum(number[k:].tolist()))


@dataclass(frozen=True, slots=True)
class AgainstChance:
    """``observed`` and ``chance`` are means over games; ``difference`` has the interval; ``p_at_least``: that
    chance alone gives so many or more."""

    observed: Estimate
    chance: float | None
    difference: Estimate
    p_at_least: float | None


def against_chance(
    outcomes: ArrayLike, chances: Sequence[float | Fraction], *, draws: int = DRAWS, seed: int = 0,
    level: float = 0.95,
) -> AgainstChance:  # fmt: skip
    """mean(outcome − chance) over games, each with its own chance; interval by drawing whole games anew.

    ``outcomes``: 0 or 1 of each game. Percentile interval of ``draws`` seeded draws with replacement; a game
    brings its chance along, so the mix of sizes varies too. ``se`` is the draws' standard deviation. No
    games: no value. One game: no interval (``one_cluster``). All differences equal: no interval
    (``no_spread``).
    """
    values = floats(outcomes)
    levels = floats([float(one) for one in chances])
    if values.size != levels.size:
        raise ValueError("a chance for every game")
    if not np.isin(values, (0.0, 1.0)).all():
        raise ValueError("outcomes are 0 or 1")
    n = values.size
    if not n:
        none = Estimate(None, 0, level=level, items=0, lack="no_data")
        return AgainstChance(none, None, none, None)
    return AgainstChance(
        games_mean(values, draws=draws, seed=seed, level=level),
        float(levels.mean()),
        games_mean(values - levels, draws=draws, seed=seed, level=level),
        at_least(chances, round(float(values.sum()))),
    )


def games_mean(values: ArrayLike, *, draws: int = DRAWS, seed: int = 0, level: float = 0.95) -> Estimate:
    """Mean over games with a percentile bootstrap interval over them, seeded. ``items`` counts the games."""
    array = floats(values)
    n = array.size
    if not n:
        return Estimate(None, 0, level=level, items=0, lack="no_data")
    value = float(array.mean())
    lack: Lack = "one_cluster" if n < 2 else "no_spread" if np.ptp(array) == 0 else ""
    if lack:
        return Estimate(value, n, level=level, items=n, lack=lack)
    rng = np.random.default_rng(seed)
    means = np.empty(draws)
    block = max(1, _BLOCK // n)
    for start in range(0, draws, block):
        size = min(block, draws - start)
        means[start : start + size] = array[rng.integers(0, n, (size, n))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, n, float(means.std(ddof=1)), float(low), float(high), level, items=n)


def _out(living: int, agent_votes: bool | None) -> Fraction:
    return elimination_out(living) if agent_votes is None else voting_out(living, agent_votes=agent_votes)


def _survived(players: int, agent_votes: bool | None) -> list[Fraction]:
    """P(the agent survives k rounds), k from 1 to n − 2."""
    _check_living(players)
    found, still = [], Fraction(1)
    for m in range(players, LAST, -1):
        still *= 1 - _out(m, agent_votes)
        found.append(still)
    return found


def _check_living(living: int) -> None:
    if living <= LAST:
        raise ValueError("a round has at least three players")

"""Chance levels of the group game: by counting every ballot, against the published sizes, and their edges."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from turingsite.stats import chance

SIZES = [6] * 34 + [5] * 16  # the published games
#: 15 of them survived, spread over both sizes.
SURVIVED = [1] * 10 + [0] * 24 + [1] * 5 + [0] * 11


def counted(living: int, *, agent_votes: bool) -> Fraction:
    """P(player 0, the agent, is out), each ballot of everybody looked at."""
    players = range(living)
    voters = players if agent_votes else players[1:]
    ballots = list(product(*([other for other in players if other != voter] for voter in voters)))
    out = Fraction(0)
    for ballot in ballots:
        votes = [ballot.count(player) for player in players]
        if votes[0] == max(votes):
            out += Fraction(1, votes.count(max(votes)))
    return out / len(ballots)


def test_random_voting_is_what_counting_every_ballot_gives() -> None:
    silent = {m: chance.voting_out(m, agent_votes=False) for m in (6, 5, 4, 3)}
    assert silent == {6: Fraction(704, 3125), 5: Fraction(9, 32), 4: Fraction(10, 27), 3: Fraction(1, 2)}
    assert silent == {m: counted(m, agent_votes=False) for m in silent}
    for m in (3, 4, 5):
        assert chance.voting_out(m, agent_votes=True) == counted(m, agent_votes=True)
        assert chance.voting_out(m, agent_votes=True) == chance.elimination_out(m)
    assert all(chance.voting_out(m, agent_votes=False) > Fraction(1, m) for m in range(3, 14))


def test_survival_of_the_published_sizes() -> None:
    assert [chance.survival(n) for n in (6, 5)] == [Fraction(1, 3), Fraction(2, 5)]
    assert [chance.survival(n, agent_votes=True) for n in (6, 5)] == [Fraction(1, 3), Fraction(2, 5)]
    assert [chance.survival(n, agent_votes=False) for n in (6, 5)] == [
        Fraction(105179, 600000),
        Fraction(391, 1728),
    ]
    assert float(sum(map(chance.survival, SIZES)) / 50) == pytest.approx(0.3547, abs=5e-5)
    silent = sum(chance.survival(n, agent_votes=False) for n in SIZES) / 50
    assert float(silent) == pytest.approx(0.1916, abs=5e-5)


def test_rounds_of_the_published_sizes() -> None:
    assert [chance.rounds_survived(n) for n in (6, 5)] == [Fraction(7, 3), Fraction(9, 5)]
    assert sum(map(chance.rounds_played, SIZES)) == Fraction("140.4")
    assert chance.rounds_survived(6, agent_votes=False) < Fraction(7, 3)
    assert chance.rounds_played(3) == 1


@pytest.mark.parametrize(
    ("agent_votes", "difference", "low", "high"),
    [(None, -0.0547, -0.173, 0.072), (True, -0.0547, -0.173, 0.072), (False, 0.1084, -0.013, 0.237)],
)
def test_survival_against_chance(
    agent_votes: bool | None, difference: float, low: float, high: float
) -> None:
    levels = [chance.survival(n, agent_votes=agent_votes) for n in SIZES]
    found = chance.against_chance(SURVIVED, levels, seed=1)
    assert found.observed.value == pytest.approx(0.3)
    assert found.difference.value == pytest.approx(difference, abs=5e-5)
    assert (found.difference.low, found.difference.high) == pytest.approx((low, high), abs=0.012)
    again = chance.against_chance(SURVIVED, levels, seed=1)
    assert again == found
    if agent_votes is False:
        assert found.p_at_least == pytest.approx(0.0436, abs=5e-5)


def test_so_many_or_more_is_the_binomial_tail_where_all_are_alike() -> None:
    assert chance.at_least([0.5] * 4, 3) == pytest.approx(5 / 16)
    assert chance.at_least([Fraction(1, 3), Fraction(2, 5)], 1) == pytest.approx(1 - (2 / 3) * (3 / 5))
    assert chance.at_least([0.2, 0.9], 0) == 1.0
    assert chance.at_least([0.2, 0.9], 3) == 0.0
    with pytest.raises(ValueError, match="between 0 and 1"):
        chance.at_least([1.5], 1)


def test_first_vote_chance_pools_voters() -> None:
    """Five voters in each room of six, four in each of five: 234 = 170 + 64 of them."""
    voters = [6] * 170 + [5] * 64
    assert sum(map(chance.vote_chance, voters)) == 50
    assert 50 / len(voters) == pytest.approx(0.2137, abs=5e-5)


def test_too_little_gives_no_value() -> None:
    nothing = chance.against_chance([], [])
    assert (nothing.observed.value, nothing.difference.value, nothing.p_at_least) == (None, None, None)
    one = chance.against_chance([1], [Fraction(1, 3)]).difference
    assert one.value == pytest.approx(2 / 3)
    assert (one.low, one.lack) == (None, "one_cluster")
    alike = chance.against_chance([1, 1], [Fraction(1, 3)] * 2).difference
    assert (alike.low, alike.lack) == (None, "no_spread")
    for players in (0, 1, 2):
        with pytest.raises(ValueError, match="three players"):
            chance.survival(players)
    with pytest.raises(ValueError, match="0 or 1"):
        chance.against_chance([0.5], [0.5])

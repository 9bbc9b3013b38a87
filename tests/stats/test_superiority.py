"""Probability of superiority: by pairs, against the AUC, with the two-way interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turingsite import stats

scores = st.lists(st.integers(1, 5), min_size=1, max_size=12)


@given(scores, scores)
def test_value_counts_pairs_and_halves_ties(machine: list[int], human: list[int]) -> None:
    wins = [(x > y) + 0.5 * (x == y) for x in machine for y in human]
    values, first = machine + human, [True] * len(machine) + [False] * len(human)
    n = len(values)
    got = stats.superiority(values, first, np.arange(n), np.arange(n))
    assert got.value == pytest.approx(sum(wins) / len(wins))
    assert got.value == pytest.approx(stats.auc(values, first).value)
    back = stats.superiority(values, ~np.array(first), np.arange(n), np.arange(n))
    assert back.value == pytest.approx(1 - (got.value or 0.0))
    assert back.se == (None if got.se is None else pytest.approx(got.se))
    if got.low is not None and got.high is not None:
        assert 0 <= got.low <= (got.value or 0) <= got.high <= 1


def test_interval_of_a_worked_set() -> None:
    """Machine 1 2 4, human 3 5 4; two raters, each score of its own dialogue but the last two."""
    x = [1, 2, 4, 3, 5, 4]
    first = [True] * 3 + [False] * 3
    rater, dialogue = [0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 4, 4]
    # Share of 3 5 4 below a machine score, ties half: 0, 0, 1.5/3; share of 1 2 4 above 3, 5, 4.
    above, below = [0, 0, 0.5], [1 / 3, 0, 1 / 6]
    theta = 1 / 6
    u = [(v - theta) / 3 for v in above + below]
    spread = stats.twoway(u, rater, dialogue)
    got = stats.superiority(x, first, rater, dialogue)
    assert got.value == pytest.approx(theta)
    assert (got.se, got.n, got.participants, got.items) == pytest.approx((spread.se, 6, 2, 5))
    # Two raters on either side, two human dialogues: one degree of freedom.
    assert got.df == 1
    assert (got.low, got.high) == (0.0, 1.0)


def test_each_score_its_own_person_and_dialogue_is_delong_but_for_small_factors() -> None:
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.integers(1, 5, 60), rng.integers(2, 6, 60)])
    first = np.arange(120) < 60
    ours, theirs = stats.superiority(x, first, np.arange(120), np.arange(120)), stats.auc(x, first)
    assert ours.value == pytest.approx(theirs.value)
    assert (ours.se or 0) ** 2 * 119 / 120 == pytest.approx((theirs.se or 0) ** 2 * 59 / 60)


def test_only_the_order_of_scores_counts() -> None:
    rng = np.random.default_rng(5)
    x, first = rng.integers(1, 6, 80), rng.random(80) < 0.5
    rater, dialogue = rng.integers(0, 6, 80), rng.integers(0, 20, 80)
    got = stats.superiority(x, first, rater, dialogue)
    assert stats.superiority(np.exp(x), first, rater, dialogue) == got
    assert stats.superiority(-x, first, rater, dialogue).value == pytest.approx(1 - (got.value or 0))


def test_undefined_cases() -> None:
    nobody = stats.superiority([1, 2], [True, True], [0, 1], [0, 1])
    assert (nobody.value, nobody.n, nobody.lack) == (None, 2, "no_data")
    one = stats.superiority([1, 2, 3, 3], [True, True, False, False], [0, 1, 0, 1], [0, 1, 2, 2])
    assert (one.value, one.low, one.lack) == (0.0, None, "one_cluster")
    apart = stats.superiority([1, 2, 4, 5], [True, True, False, False], [0, 1, 0, 1], [0, 1, 2, 3])
    assert (apart.value, apart.low, apart.lack) == (0.0, None, "no_spread")
    with pytest.raises(ValueError, match="one entry"):
        stats.superiority([1, 2], [True], [0, 1], [0, 1])


def test_two_way_interval_covers_where_delong_does_not() -> None:
    rng = np.random.default_rng(20260214)
    raters, dialogues, runs = 24, 60, 400
    machine = np.arange(dialogues) % 2 == 0
    shift = 0.5
    covered = plain = 0
    truth = _true_superiority(shift)
    for _ in range(runs):
        latent = (
            rng.normal(0, 0.3, (raters, 1))
            + rng.normal(0, 0.6, (1, dialogues))
            + rng.normal(0, 1, (raters, dialogues))
            - shift * machine
        )
        heard = rng.random((raters, dialogues)) < 0.3
        rater, dialogue = np.nonzero(heard)
        first = machine[dialogue]
        got = stats.superiority(latent[heard], first, rater, dialogue)
        covered += stats.standing(got, truth) == "undecided"
        plain += stats.standing(stats.auc(latent[heard], first), truth) == "undecided"
    assert 0.91 <= covered / runs <= 0.99
    assert plain / runs < 0.85


def _true_superiority(shift: float) -> float:
    spread = math.sqrt(2 * (0.3**2 + 0.6**2 + 1))
    return 0.5 * math.erfc(shift / spread / math.sqrt(2))

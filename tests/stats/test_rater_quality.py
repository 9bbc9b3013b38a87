"""Halo, drift, repeats and straight-lining of one rater."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import linregress
from sklearn.metrics import cohen_kappa_score

from turingsite import stats

NAN = float("nan")


def with_halo(rng: np.random.Generator, dialogues: int, weight: float) -> NDArray[np.float64]:
    """Scores on 18 dimensions: one judgement of the dialogue, so much of it, and something of their own."""
    judgement, own = rng.normal(0, 1, (dialogues, 1)), rng.normal(0, 1, (dialogues, 18))
    latent = weight * judgement + np.sqrt(1 - weight**2) * own
    return np.clip(np.rint(3 + 1.2 * latent), 1, 5)


def test_halo_is_the_first_component_of_the_correlations() -> None:
    scores = with_halo(np.random.default_rng(1), 60, 0.6)
    eigenvalues = np.linalg.eigvalsh(np.corrcoef(scores.T))
    got = stats.halo(scores)
    assert got.value == pytest.approx(eigenvalues[-1] / 18)
    assert (got.n, got.dimensions, got.lack) == (60, 18, "")


def test_one_judgement_said_eighteen_times_is_a_whole_halo() -> None:
    judgement = np.random.default_rng(2).integers(1, 6, (30, 1)).astype(float)
    # Half the dimensions turned round: they still say the same one thing.
    scores = np.hstack([np.repeat(judgement, 9, axis=1), np.repeat(6 - judgement, 9, axis=1)])
    assert stats.halo(scores).value == pytest.approx(1.0)
    scores[np.random.default_rng(3).random(scores.shape) < 0.3] = NAN
    assert stats.halo(scores).value == pytest.approx(1.0)


def test_unrelated_scores_have_the_share_of_shuffled_ones_and_no_less() -> None:
    rng = np.random.default_rng(4)
    few, many = stats.halo(with_halo(rng, 20, 0.0)), stats.halo(with_halo(rng, 2000, 0.0))
    # Twenty dialogues make a component of .2 out of nothing.
    assert few.unrelated == pytest.approx(0.2, abs=0.04)
    assert few.value == pytest.approx(few.unrelated, abs=0.06)
    assert many.value == pytest.approx(1 / 18, abs=0.015)
    assert many.unrelated == pytest.approx(many.value, abs=0.005)
    marked = stats.halo(with_halo(rng, 20, 0.7))
    assert marked.value is not None
    assert marked.value > 2 * (marked.unrelated or 1)


def test_a_dimension_spread_wide_is_no_halo() -> None:
    rng = np.random.default_rng(5)
    scores = rng.integers(3, 5, (400, 6)).astype(float)
    scores[:, 0] = rng.choice([1.0, 5.0], 400)
    assert stats.halo(scores).value == pytest.approx(1 / 6, abs=0.03)


def test_missing_cells_hide_no_halo() -> None:
    """Each correlation is over the cells there are, so gaps do not pull it to nothing."""
    rng = np.random.default_rng(6)
    scores = with_halo(rng, 1500, 0.8)
    whole = stats.halo(scores).value
    scores[rng.random(scores.shape) < 0.4] = NAN
    assert stats.halo(scores).value == pytest.approx(whole, abs=0.02)
    assert stats.halo(scores).n == 1500


def test_halo_leaves_out_dimensions_it_cannot_use() -> None:
    scores = with_halo(np.random.default_rng(7), 40, 0.6)
    used = stats.halo(scores[:, :15])
    scores[:, 15] = 3
    scores[:, 16] = NAN
    scores[9:, 17] = NAN
    got = stats.halo(scores)
    assert (got.dimensions, got.value) == pytest.approx((15, used.value))


def test_halo_is_seeded() -> None:
    scores = with_halo(np.random.default_rng(8), 25, 0.3)
    assert stats.halo(scores, seed=1) == stats.halo(scores, seed=1)
    assert stats.halo(scores, seed=1).unrelated != stats.halo(scores, seed=2).unrelated
    assert stats.halo(scores, shuffles=0).unrelated is None


def test_halo_without_enough_data_has_no_value() -> None:
    few = stats.halo(with_halo(np.random.default_rng(9), 9, 0.5))
    assert (few.value, few.n, few.lack) == (None, 9, "no_data")
    constant = stats.halo(np.full((30, 18), 4.0))
    assert (constant.value, constant.n, constant.dimensions, constant.lack) == (None, 30, 0, "no_spread")
    nothing = stats.halo(np.full((30, 18), NAN))
    assert (nothing.value, nothing.n, nothing.lack) == (None, 0, "no_data")
    assert stats.halo(np.empty((0, 18))).lack == "no_data"
    with pytest.raises(ValueError, match="dialogues × dimensions"):
        stats.halo([1.0, 2.0])


def test_mean_of_the_other_raters() -> None:
    got = stats.others_mean([[1.0, 2.0, 5.0], [4.0, NAN, 2.0], [NAN, 3.0, NAN], [NAN, NAN, NAN]])
    np.testing.assert_array_equal(got, [[3.5, 3, 1.5], [2, 3, 4], [3, NAN, 3], [NAN, NAN, NAN]])
    deep = np.random.default_rng(1).integers(1, 6, (4, 3, 2)).astype(float)
    for at in range(2):
        np.testing.assert_allclose(stats.others_mean(deep)[:, :, at], stats.others_mean(deep[:, :, at]))


def test_drift_is_the_slope_of_the_dialogues_mean_deviations() -> None:
    rng = np.random.default_rng(1)
    order = rng.permutation(40)
    others = rng.uniform(1, 5, (40, 18))
    own = others + 0.03 * order[:, None] + rng.normal(0, 0.3, (40, 1)) + rng.normal(0, 1, (40, 18))
    own[rng.random(own.shape) < 0.2] = NAN
    others[rng.random(own.shape) < 0.2] = NAN
    wanted = linregress(order, np.nanmean(own - others, axis=1))
    got = stats.drift(own, others, order)
    assert (got.value, got.se) == pytest.approx((wanted.slope, wanted.stderr))
    assert (got.n, got.df) == (40, 38)
    assert (got.low, got.high) == pytest.approx(
        (wanted.slope - 2.024394 * wanted.stderr, wanted.slope + 2.024394 * wanted.stderr), rel=1e-5
    )
    assert stats.drift(own + 1, others, order + 7).value == pytest.approx(got.value)
    assert stats.difference_test(got).p == pytest.approx(wanted.pvalue)


def test_drift_by_hand_and_one_value_per_dialogue() -> None:
    # Deviations 0, 1, 1, 2 over 0, 1, 2, 3: slope .6, residuals −.1, .3, −.3, .1.
    got = stats.drift([2, 3, 4, 4], [2, 2, 3, 2], [0, 1, 2, 3])
    assert (got.value, got.se) == pytest.approx((0.6, np.sqrt(0.2 / 2 / 5)))


def test_dialogues_nobody_else_scored_are_left_out_of_drift() -> None:
    got = stats.drift([2, 3, 4, 4, 1], [2, 2, 3, 2, NAN], [0, 1, 2, 3, 4])
    assert (got.value, got.n) == pytest.approx((0.6, 4))


def test_drift_without_enough_data() -> None:
    few = stats.drift([1, 2], [2, 2], [0, 1])
    assert (few.value, few.n, few.lack) == (None, 2, "no_data")
    still = stats.drift([1, 2, 3], [2, 2, 2], [5, 5, 5])
    assert (still.value, still.n, still.lack) == (None, 3, "no_spread")
    line = stats.drift([1, 2, 3, 4], [0, 0, 0, 0], [1, 2, 3, 4])
    assert (line.value, line.se, line.lack) == (1.0, None, "no_spread")
    assert stats.drift(np.empty((0, 18)), np.empty((0, 18)), []).lack == "no_data"
    with pytest.raises(ValueError, match="one row"):
        stats.drift([1, 2], [1, 2], [0])


def test_hidden_repeats() -> None:
    first, again = [1, 2, 5, 4, 3, NAN, 2], [1, 3, 3, 4, 3, 2, NAN]
    got = stats.retest(first, again)
    assert (got.n, got.exact, got.within_one) == (5, 3 / 5, 4 / 5)
    assert got.kappa.value == pytest.approx(
        cohen_kappa_score(first[:5], again[:5], weights="quadratic", labels=[1, 2, 3, 4, 5])
    )
    assert stats.retest([], []).exact is None
    assert stats.retest([NAN], [2]).kappa.lack == "no_data"
    same = stats.retest([3, 3], [3, 3])
    assert (same.exact, same.kappa.value, same.kappa.lack) == (1.0, None, "no_spread")


def test_straight_lining_by_hand() -> None:
    got = stats.straight_lining([[1.0, 4.0, 4.0], [4.0, 4.0, 4.0], [4.0, 2.0, NAN], [NAN, 0.0, NAN]])
    # The run of 4 goes on over two dialogues' ends: 2 + 3 + 1.
    assert got == stats.StraightLining(9, 4, 6, 4.0, 6 / 9, 1 / 3)


def test_no_evidence_throughout_is_straight_lining_too() -> None:
    got = stats.straight_lining(np.zeros((5, 18)))
    assert got == stats.StraightLining(90, 5, 90, 0.0, 1.0, 1.0)


def test_gaps_do_not_break_a_run() -> None:
    assert stats.straight_lining([[5, NAN, 5], [5, NAN, 1]]).longest_run == 3


def test_straight_lining_without_answers() -> None:
    nothing = stats.StraightLining(0, 0, None, None, None, None)
    assert stats.straight_lining(np.full((2, 3), NAN)) == nothing
    assert stats.straight_lining(np.empty((0, 18))) == nothing
    assert stats.straight_lining([[2, NAN], [NAN, 3]]) == stats.StraightLining(2, 2, 1, 2.0, 0.5, None)

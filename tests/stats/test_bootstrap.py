"""Alpha's interval: the same as drawing dialogues one by one, for one dimension and for many at once."""

from __future__ import annotations

import math
import tracemalloc
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from turingsite import stats
from turingsite.stats.agreement import Metric

from .conftest import RATED, scores_of


def made_up(
    rng: np.random.Generator, units: int, raters: int, dimensions: int, missing: float
) -> NDArray[np.float64]:
    """Scores that agree in part; every cell may be missing."""
    heard, noise = (rng.normal(0, 1, (units, size, dimensions)) for size in (1, raters))
    scores = np.clip(np.rint(3 + heard + noise), 1, 5)
    scores[rng.random(scores.shape) < missing] = np.nan
    return scores


def bounds_one_by_one(
    scores: NDArray[np.float64], metric: Metric, draws: int, seed: int
) -> tuple[list[float], list[float]]:
    """Bounds of alpha and of agreement from draws written out; all units must have two scores or more."""
    places = np.random.default_rng(seed).integers(0, len(scores), (draws, len(scores)))
    alphas = [stats.krippendorff_alpha(scores[place], metric).value for place in places]
    agreed = [stats.percent_agreement(scores[place]).value for place in places]
    return (
        np.quantile([math.nan if value is None else value for value in alphas], [0.025, 0.975]).tolist(),
        np.quantile(np.array(agreed, dtype=float), [0.025, 0.975]).tolist(),
    )


@pytest.mark.parametrize("metric", get_args(Metric))
@pytest.mark.parametrize("raters", [2, 3, 5])
def test_bounds_are_those_of_drawing_one_by_one(metric: Metric, raters: int) -> None:
    scores = made_up(np.random.default_rng(raters), 30, raters, 1, 0.0)[:, :, 0]
    # Uneven numbers of raters: two scores stay everywhere.
    scores[::3, 2:] = np.nan
    got = stats.alpha_interval(scores, metric=metric, draws=150, seed=9)
    alpha, agreement = bounds_one_by_one(scores, metric, 150, 9)
    assert (got.alpha.low, got.alpha.high) == pytest.approx(tuple(alpha))
    assert (got.agreement.low, got.agreement.high) == pytest.approx(tuple(agreement))
    point = stats.krippendorff_alpha(scores, metric)
    assert (got.alpha.value, got.alpha.n, got.alpha.items) == pytest.approx((point.value, point.n, 30))
    assert got.agreement.value == pytest.approx(stats.percent_agreement(scores).value)
    assert (got.draws, got.undefined) == (150, 0)


def test_points_of_the_textbook_set() -> None:
    got = stats.alpha_interval(scores_of(RATED), metric="interval")
    assert (got.alpha.value, got.agreement.value) == pytest.approx((0.849, 0.8), abs=5e-4)
    assert (got.alpha.n, got.alpha.items, got.agreement.n) == (40, 11, 40)
    assert got.alpha.low is not None
    assert got.alpha.high is not None
    assert got.alpha.se is not None
    assert got.alpha.low < 0.849 < got.alpha.high <= 1
    # Coincidences of two, three and four raters: thirds and halves, kept exact.
    assert got == stats.alpha_interval(scores_of(RATED), metric="interval")


def test_a_dialogue_brings_all_its_dimensions() -> None:
    """Dimensions at once give what each gives alone, since all see the same draws."""
    scores = made_up(np.random.default_rng(1), 40, 3, 4, 0.0)
    scores[:, 2] = np.where(np.random.default_rng(2).random((40, 4)) < 0.4, np.nan, scores[:, 2])
    together = stats.alpha_intervals(scores, draws=300, seed=5)
    for at, got in enumerate(together):
        alone = stats.alpha_interval(scores[:, :, at], draws=300, seed=5)
        assert (got.alpha.low, got.alpha.high, got.alpha.se) == pytest.approx(
            (alone.alpha.low, alone.alpha.high, alone.alpha.se)
        )
        assert (got.alpha.n, got.alpha.items, got.undefined) == (alone.alpha.n, alone.alpha.items, 0)


def test_many_draws_come_in_blocks_and_are_the_same() -> None:
    # 3,000 dialogues × 400 draws is more than one block.
    scores = made_up(np.random.default_rng(7), 3000, 2, 1, 0.0)[:, :, 0]
    got = stats.alpha_interval(scores, draws=400, seed=1)
    alpha, agreement = bounds_one_by_one(scores, "ordinal", 400, 1)
    assert (got.alpha.low, got.alpha.high) == pytest.approx(tuple(alpha))
    assert (got.agreement.low, got.agreement.high) == pytest.approx(tuple(agreement))


def test_seed_decides_the_draws() -> None:
    scores = made_up(np.random.default_rng(1), 25, 3, 1, 0.2)[:, :, 0]
    first, same, other = (stats.alpha_interval(scores, seed=seed).alpha for seed in (1, 1, 2))
    assert first == same
    assert first.low != other.low
    assert first.value == other.value
    assert first.low == pytest.approx(other.low, abs=0.03)


def test_level_sets_the_width() -> None:
    scores = made_up(np.random.default_rng(1), 25, 3, 1, 0.2)[:, :, 0]
    wide, narrow = (stats.alpha_interval(scores, level=level).alpha for level in (0.95, 0.8))
    assert wide.low is not None
    assert narrow.low is not None
    assert narrow.high is not None
    assert wide.high is not None
    assert wide.low < narrow.low < narrow.high < wide.high
    assert (wide.se, narrow.level) == (narrow.se, 0.8)


def test_pooled_alpha_draws_whole_dialogues() -> None:
    """Dimensions that copy one another add no information: clustered by dialogue the interval stays."""
    scores = made_up(np.random.default_rng(11), 60, 3, 1, 0.1)
    once = stats.alpha_interval(scores[:, :, 0], seed=3)
    pooled = np.concatenate([scores[:, :, 0]] * 6)
    dialogues = [f"d{at:02}" for at in range(60)] * 6
    clustered = stats.alpha_interval(pooled, cluster=dialogues, seed=3)
    loose = stats.alpha_interval(pooled, seed=3)
    assert (clustered.alpha.items, loose.alpha.items) == (once.alpha.items, 6 * (once.alpha.items or 0))
    assert clustered.alpha.n == 6 * once.alpha.n
    assert clustered.alpha.se == pytest.approx(once.alpha.se, rel=0.02)
    assert (loose.alpha.se or 0) < 0.6 * (once.alpha.se or 0)


def test_dialogues_that_nobody_can_compare_are_no_part_of_the_sample() -> None:
    scores = made_up(np.random.default_rng(1), 25, 3, 1, 0.0)[:, :, 0]
    padded = np.concatenate([scores, np.full((200, 3), np.nan)])
    padded[30, 0] = 4
    assert stats.alpha_interval(padded) == stats.alpha_interval(scores)


@pytest.mark.parametrize("cluster", [None, list("aabbcc")])
def test_equal_ratings_have_no_interval(cluster: list[str] | None) -> None:
    got = stats.alpha_interval(np.full((6, 3), 2.0), cluster=cluster, draws=50)
    assert (got.alpha.value, got.alpha.n, got.alpha.low, got.alpha.lack) == (None, 18, None, "no_spread")
    assert (got.agreement.value, got.agreement.low, got.agreement.lack) == (1.0, None, "no_spread")
    assert got.undefined == 50


def test_perfect_agreement_has_a_value_without_a_width() -> None:
    got = stats.alpha_interval(np.repeat([[1.0], [2.0], [5.0]] * 8, 3, axis=1))
    assert (got.alpha.value, got.alpha.low, got.alpha.lack) == (1.0, None, "no_spread")


def test_undefined_draws_are_counted_and_left_out() -> None:
    # One unit of fifty holds all that differs from 3; a draw misses it with (1 − 1/50)^50 = .364.
    scores = np.full((50, 2), 3.0)
    scores[0] = 4.0, 3.0
    got = stats.alpha_interval(scores, draws=4000)
    assert got.undefined / 4000 == pytest.approx((1 - 1 / 50) ** 50, abs=0.03)
    # More than a twentieth is missing, which could hold either bound.
    assert got.alpha.value == pytest.approx(0.0)
    assert (got.alpha.low, got.alpha.lack) == (None, "no_spread")
    # Agreement is defined in every draw.
    assert got.agreement.low is not None
    assert got.agreement.high == 1.0


def test_few_undefined_draws_leave_the_interval_of_the_rest() -> None:
    scores = np.full((50, 2), 3.0)
    scores[:4] = [[4, 4], [5, 3], [2, 2], [4, 5]]
    got = stats.alpha_interval(scores, draws=4000, seed=2)
    assert 0 < got.undefined < 200
    places = np.random.default_rng(2).integers(0, 50, (4000, 50))
    drawn = [stats.krippendorff_alpha(scores[place]).value for place in places]
    known = [value for value in drawn if value is not None]
    assert len(drawn) - len(known) == got.undefined
    assert (got.alpha.low, got.alpha.high) == pytest.approx(tuple(np.quantile(known, [0.025, 0.975])))


@pytest.mark.parametrize(
    ("rows", "n", "units", "agreement"),
    [("... ...", 0, 0, None), ("1.. .23", 0, 0, None), ("12. 1.3", 2, 1, 1.0)],
)
def test_too_little_data_is_no_value_with_n(rows: str, n: int, units: int, agreement: float | None) -> None:
    got = stats.alpha_interval(scores_of(rows), draws=20)
    assert (got.alpha.value, got.alpha.n, got.alpha.items, got.alpha.lack) == (None, n, units, "no_data")
    assert (got.agreement.value, got.agreement.n, got.agreement.low) == (agreement, n, None)


def test_one_dialogue_has_an_alpha_over_its_dimensions_but_no_interval() -> None:
    got = stats.alpha_interval(scores_of("1345 1254"), cluster=["a"] * 4, draws=20).alpha
    assert got.value is not None
    assert (got.items, got.low, got.lack) == (1, None, "one_cluster")


def test_a_dimension_without_data_stands_beside_others() -> None:
    scores = made_up(np.random.default_rng(1), 25, 3, 2, 0.0)
    scores[:, :, 1] = np.nan
    full, empty = stats.alpha_intervals(scores)
    assert full.alpha.low is not None
    assert (empty.alpha.value, empty.alpha.n, empty.alpha.lack, empty.agreement.lack) == (
        None, 0, "no_data", "no_data",
    )  # fmt: skip
    assert stats.alpha_intervals(np.empty((0, 3, 2)))[1].alpha.lack == "no_data"
    assert stats.alpha_intervals(np.empty((4, 3, 0))) == []


def test_many_raters_a_unit_stay_exact() -> None:
    """With up to eight raters the multiples are of 420ths; the points equal those of the plain sum."""
    scores = made_up(np.random.default_rng(8), 200, 8, 2, 0.5)
    for at, got in enumerate(stats.alpha_intervals(scores, draws=50)):
        assert got.alpha.value == pytest.approx(stats.krippendorff_alpha(scores[:, :, at]).value, rel=1e-12)
    # Forty raters: no common multiple that floats hold, so fractions are added as they are.
    crowd = made_up(np.random.default_rng(8), 40, 40, 1, 0.5)[:, :, 0]
    got = stats.alpha_interval(crowd, draws=50)
    assert got.alpha.value == pytest.approx(stats.krippendorff_alpha(crowd).value)
    assert got.agreement.value == pytest.approx(stats.percent_agreement(crowd).value)
    assert got.alpha.low is not None
    assert got.undefined == 0


def test_memory_does_not_grow_with_draws() -> None:
    scores = made_up(np.random.default_rng(1), 1500, 3, 18, 0.1)
    peaks = []
    for draws in (2_000, 10_000):
        tracemalloc.start()
        stats.alpha_intervals(scores, draws=draws)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # What must grow is the two figures kept of each draw and dimension: eight bytes each.
    assert peaks[1] - peaks[0] < 2 * 8 * 18 * 8_000 * 1.5


def test_bad_input_is_refused() -> None:
    scores = np.ones((3, 2))
    with pytest.raises(ValueError, match="units × raters × dimensions"):
        stats.alpha_intervals(scores)
    with pytest.raises(ValueError, match="units × raters"):
        stats.alpha_interval(scores[:, :, None])
    with pytest.raises(ValueError, match="one entry per unit"):
        stats.alpha_interval(scores, cluster=["a", "b"])
    with pytest.raises(ValueError, match="few different values"):
        stats.alpha_interval(np.arange(120.0).reshape(60, 2))
    with pytest.raises(ValueError, match="draws"):
        stats.alpha_interval(scores, draws=0)
    with pytest.raises(ValueError, match="level"):
        stats.alpha_interval(scores, level=1)
    with pytest.raises(ValueError, match="metric"):
        stats.alpha_interval(scores, metric="ratio")  # type: ignore[arg-type]


def test_interval_covers_the_alpha_of_many_dialogues() -> None:
    rng = np.random.default_rng(20260214)
    truth = stats.krippendorff_alpha(made_up(rng, 200_000, 3, 1, 0.2)[:, :, 0]).value
    assert truth is not None
    standings = [
        stats.standing(stats.alpha_interval(made_up(rng, 40, 3, 1, 0.2)[:, :, 0], draws=500).alpha, truth)
        for _ in range(600)
    ]
    assert 0.91 <= standings.count("undecided") / len(standings) <= 0.98

"""Two-way and one-way variance: printed values, statsmodels, and what must hold for any data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from turingsite import stats

from .conftest import Verdicts


def test_two_way_interval_of_the_worked_set(machine: Verdicts) -> None:
    y, participant, item = machine
    assert (int(y.sum()), y.size) == (17, 40)
    spread = stats.twoway((y - y.mean()) / y.size, participant, item)
    parts = (spread.variance_plain, spread.variance_participants, spread.variance_items, spread.variance)
    assert [math.sqrt(v) for v in parts if v is not None] == pytest.approx(
        [0.0792, 0.0990, 0.1274, 0.1406], abs=5e-5
    )
    assert (spread.participants, spread.items, spread.df) == (10, 6, 5)
    got = stats.proportion(y, participant, item)
    assert got.value == 0.425
    assert got.n_eff == pytest.approx(12.36, abs=5e-3)
    assert (got.low, got.high) == pytest.approx((0.1582, 0.7441), abs=5e-5)
    assert (got.n, got.participants, got.items, got.df) == (40, 10, 6, 5)


def test_two_way_equals_statsmodels(machine: Verdicts) -> None:
    y, participant, item = machine
    fit = sm.OLS(y, np.ones_like(y)).fit(
        cov_type="cluster",
        cov_kwds={
            "groups": np.column_stack([participant, item]),
            "use_correction": True,
            "df_correction": False,
        },
    )
    # statsmodels multiplies each part by (N − 1)/(N − 1) for one regressor, so parts agree exactly.
    assert stats.proportion(y, participant, item).se == pytest.approx(float(fit.bse[0]), rel=1e-9)


def test_difference_to_humans_of_the_worked_set(both: tuple[Verdicts, NDArray[np.bool_]]) -> None:
    (y, participant, item), is_human = both
    got = stats.difference(y, is_human, participant, item)
    assert got.value == pytest.approx(0.3417, abs=5e-5)
    assert got.se == pytest.approx(0.1278, abs=5e-5)
    # Four human dialogues are the smallest number of clusters in either arm.
    assert (got.df, got.participants, got.items) == (3, 10, 10)
    assert got.high == pytest.approx(0.341667 + 3.182446 * 0.127754, abs=1e-5)
    backwards = stats.difference(y, ~is_human, participant, item)
    assert (backwards.value, backwards.low) == pytest.approx((-0.341667, -(got.high or 0.0)), abs=1e-6)


def test_labels_of_any_kind_give_the_same(machine: Verdicts) -> None:
    y, participant, item = machine
    plain = stats.proportion(y, participant, item)
    words = stats.proportion(y, [f"p{i}" for i in participant], np.array([f"d{i}" for i in item]))
    keys = stats.proportion(y, participant * 10**12 - 5, item - 3)
    assert (words.low, words.high) == pytest.approx((plain.low, plain.high))
    assert (keys.low, keys.high) == pytest.approx((plain.low, plain.high))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_share_of_zero_or_one_counts_the_smaller_grouping(value: float) -> None:
    y = np.full(12, value)
    got = stats.proportion(y, np.arange(12) % 4, np.arange(12) // 4)
    expected = stats.wilson(3 * value, 3)
    assert (got.n_eff, got.df) == (3.0, None)
    assert (got.value, got.low, got.high) == pytest.approx((value, expected.low, expected.high))


def test_no_verdicts_is_no_value() -> None:
    got = stats.proportion([], [], [])
    assert (got.value, got.n, got.lack) == (None, 0, "no_data")
    assert stats.mean([], [], []).value is None
    assert stats.oneway([], []).value is None
    assert stats.twoway([], [], []).variance is None


@pytest.mark.parametrize(
    ("participant", "item"), [([0, 0, 0], [0, 1, 2]), ([0, 1, 2], [0, 0, 0]), ([0, 0, 0], [0, 0, 0])]
)
def test_one_cluster_has_a_share_but_no_interval(participant: list[int], item: list[int]) -> None:
    got = stats.proportion([1, 0, 1], participant, item)
    assert (got.value, got.low, got.se, got.lack) == (2 / 3, None, None, "one_cluster")


def test_clusters_that_cancel_give_no_interval_rather_than_one_of_no_width() -> None:
    got = stats.proportion([1, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1])
    assert (got.value, got.low, got.lack) == (0.5, None, "no_spread")


def test_difference_without_one_side_has_no_value() -> None:
    got = stats.difference([1, 0], [True, True], [0, 1], [0, 1])
    assert (got.value, got.n, got.lack) == (None, 2, "no_data")


def test_difference_of_two_constant_sides_has_no_interval() -> None:
    got = stats.difference([1, 1, 0, 0], [True, True, False, False], [0, 1, 0, 1], [0, 1, 2, 3])
    assert (got.value, got.se, got.low, got.lack) == (1.0, None, None, "no_spread")


def test_bad_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="zeros and ones"):
        stats.proportion([0.5], [0], [0])
    with pytest.raises(ValueError, match="one entry"):
        stats.proportion([0, 1], [0], [0, 1])
    with pytest.raises(ValueError, match="finite"):
        stats.mean([float("nan")], [0], [0])
    with pytest.raises(ValueError, match="has a participant"):
        stats.proportion([0, 1], np.array(["a", None], dtype=object), [0, 1])


def test_mean_score_equals_share_on_zeros_and_ones(machine: Verdicts) -> None:
    y, participant, item = machine
    share, score = stats.proportion(y, participant, item), stats.mean(y, participant, item)
    assert (score.value, score.se, score.df) == pytest.approx((share.value, share.se, share.df))
    assert score.low == pytest.approx(0.425 - 2.570582 * 0.140601, abs=1e-5)


def test_one_way_cluster() -> None:
    rows = [[1, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]]
    got = stats.oneway(np.ravel(rows), np.repeat(range(5), 4))
    assert got.value == 0.5
    assert (got.se_plain, got.se, got.icc) == pytest.approx((0.1118, 0.1768, 0.4074), abs=5e-5)
    assert got.design_effect == pytest.approx(2.222, abs=5e-4)


def test_one_way_with_uneven_clusters_worked_by_hand() -> None:
    # Clusters (1, 1), (0), (1, 0, 0): mean .5, MSB = (.5 + .25 + 1/12 · …)/2, by hand below.
    got = stats.oneway([1, 1, 0, 1, 0, 0], ["a", "a", "b", "c", "c", "c"])
    between = 2 * 0.25 + 1 * 0.25 + 3 * (1 / 6) ** 2
    msb, msw = between / 2, (1.5 - between) / 3
    n0 = (6 - (4 + 1 + 9) / 6) / 2
    assert got.icc == pytest.approx((msb - msw) / (msb + (n0 - 1) * msw))
    assert got.design_effect == pytest.approx(1 + (14 / 6 - 1) * (got.icc or 0))
    assert got.se == pytest.approx(math.sqrt(3 / 2 * (1 + 0.25 + 0.25)) / 6)


@pytest.mark.parametrize(
    ("y", "cluster", "clusters"), [([1, 0], [0, 0], 1), ([1, 0], [0, 1], 2), ([1, 1, 1, 1], [0, 0, 1, 1], 2)]
)
def test_one_way_undefined_cases_have_no_icc(y: list[int], cluster: list[int], clusters: int) -> None:
    got = stats.oneway(y, cluster)
    assert (got.clusters, got.icc, got.design_effect) == (clusters, None, None)
    assert got.lack


@st.composite
def crossed(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Verdicts of some people on some dialogues, each pair at most once."""
    cells = draw(
        st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), unique=True, min_size=1, max_size=40)
    )
    y = draw(st.lists(st.integers(0, 1), min_size=len(cells), max_size=len(cells)))
    return y, [p for p, _ in cells], [d for _, d in cells]


@settings(max_examples=200)
@given(crossed(), st.randoms(use_true_random=False))
def test_two_way_properties(data: tuple[list[int], list[int], list[int]], rng: Any) -> None:
    y, participant, item = data
    got = stats.proportion(y, participant, item)
    assert got.value == pytest.approx(sum(y) / len(y))
    if got.low is not None and got.high is not None and got.value is not None:
        assert 0 <= got.low <= got.value <= got.high <= 1
    spread = stats.twoway(np.array(y) - np.mean(y), participant, item)
    if spread.variance is not None:
        assert spread.variance >= (spread.variance_participants or 0)
        assert spread.variance >= (spread.variance_items or 0)
    # Neither order nor names of clusters matter, nor which answer is called 1, nor which grouping is which.
    order = list(range(len(y)))
    rng.shuffle(order)
    again = stats.proportion(
        [y[i] for i in order], [f"x{participant[i]}" for i in order], [-item[i] for i in order]
    )
    assert (again.lack, again.df) == (got.lack, got.df)
    swapped = stats.proportion(y, item, participant)
    mirrored = stats.proportion([1 - v for v in y], participant, item)
    if got.low is not None and got.high is not None:
        assert (again.low, again.high) == pytest.approx((got.low, got.high))
        assert (swapped.low, swapped.high) == pytest.approx((got.low, got.high))
        assert (mirrored.low, mirrored.high) == pytest.approx((1 - got.high, 1 - got.low))


@pytest.mark.slow
def test_two_way_interval_covers_where_the_plain_one_does_not() -> None:
    """Crossed random effects on the probit scale: two-way near .95, plain Wilson well below."""
    rng = np.random.default_rng(20260214)
    people, dialogues, runs, truth = 60, 18, 400, 0.5
    covered = plain = 0
    for _ in range(runs):
        latent = (
            rng.normal(0, 0.35, (people, 1))
            + rng.normal(0, 0.45, (1, dialogues))
            + rng.normal(0, 1, (people, dialogues))
        )
        heard = rng.random((people, dialogues)) < 0.4
        person, dialogue = np.nonzero(heard)
        y = (latent[heard] > 0).astype(float)
        got = stats.proportion(y, person, dialogue)
        naive = stats.wilson(float(y.sum()), y.size)
        covered += stats.standing(got, truth) == "undecided"
        plain += stats.standing(naive, truth) == "undecided"
    assert 0.91 <= covered / runs <= 0.98
    assert plain / runs < 0.75

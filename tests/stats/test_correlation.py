"""Rank and linear correlation: SciPy's values and p, the published example, what has no value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as sps

from turingsite import stats

COEFFICIENTS = (
    (stats.pearson, sps.pearsonr),
    (stats.spearman, sps.spearmanr),
    (stats.kendall, sps.kendalltau),
)


def test_published_benchmark_and_success() -> None:
    # MMAU-Pro reasoning and success of Kimi, Qwen3, GPT-4o, Gemini. Printed is .0456; the inputs give this.
    got = stats.pearson([46.6, 52.2, 52.5, 59.2], [12.7, 15.1, 23.0, 13.7])
    assert got.value == pytest.approx(0.0589, abs=5e-5)
    assert got.n == 4


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=50))
def test_all_three_equal_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(one, dtype=float) for one in zip(*pairs, strict=True))
    for ours, theirs in COEFFICIENTS:
        got = ours(x, y)
        if np.unique(x).size == 1 or np.unique(y).size == 1:
            assert (got.value, got.p, got.lack) == (None, None, "no_spread")
            continue
        expected = theirs(x, y)
        assert got.value == pytest.approx(float(expected.statistic), abs=1e-12)
        assert got.p == pytest.approx(float(expected.pvalue), abs=1e-7)


@pytest.mark.parametrize("n", [3, 4, 5, 9, 33, 34, 80])
def test_orders_without_ties_equal_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    for _turn in range(20):
        x, y = rng.permutation(n).astype(float), rng.permutation(n).astype(float)
        for ours, theirs in COEFFICIENTS:
            got, expected = ours(x, y), theirs(x, y)
            assert got.value == pytest.approx(float(expected.statistic))
            assert got.p == pytest.approx(float(expected.pvalue), abs=1e-7)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_perfect_order(direction: float) -> None:
    x = np.arange(6.0)
    for ours, theirs in COEFFICIENTS:
        got, expected = ours(x, direction * x), theirs(x, direction * x)
        assert (got.value, got.p) == pytest.approx((direction, float(expected.pvalue)), abs=1e-12)


def test_too_few_pairs_and_constants_have_no_value() -> None:
    for ours, _theirs in COEFFICIENTS:
        assert ours([], []).lack == ours([1, 2], [2, 1]).lack == "no_data"
        assert ours([0.1, 0.1, 0.1], [1, 2, 3]).lack == "no_spread"
        with pytest.raises(ValueError, match="one entry"):
            ours([1, 2, 3], [1, 2])

"""Cochran–Armitage against the published tables; slope with the two-way variance."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import Table

from turingsite import stats

from .conftest import Verdicts

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "paper_vectors.json"


@pytest.mark.parametrize(
    ("kind", "right", "n", "z", "p"),
    [
        ("H-H", 654, 922, 1.6604, 0.09683),
        ("H-M", 808, 967, -1.0106, 0.31220),
        ("PH", 577, 902, -1.6018, 0.10919),
    ],
)
def test_published_trends_over_length(kind: str, right: int, n: int, z: float, p: float) -> None:
    if not VECTORS.exists():
        pytest.skip(f"the published vectors are not beside the project ({VECTORS.name})")
    cells = json.loads(VECTORS.read_text())["cochran_armitage_table10_11"][kind]
    got = stats.cochran_armitage(cells["correct"], cells["n"])
    assert (sum(cells["correct"]), got.n) == (right, n)
    assert got.z == pytest.approx(z, abs=5e-5)
    assert got.p == pytest.approx(p, abs=5e-6)
    assert got.bins == sum(1 for total in cells["n"] if total)


def test_trend_and_slope_of_the_worked_set(machine: Verdicts) -> None:
    y, participant, item = machine
    correct = 1 - y
    trend = stats.cochran_armitage(np.bincount(item, weights=correct), np.bincount(item))
    assert trend.z == pytest.approx(2.6724, abs=5e-5)
    assert trend.p == pytest.approx(0.0075, abs=5e-5)
    got = stats.slope(correct, item, participant, item)
    assert (got.value, got.se) == pytest.approx((0.1222, 0.0348), abs=5e-5)
    test = stats.difference_test(got)
    assert test.statistic == pytest.approx(3.510, abs=5e-4)
    assert test.df == 5
    assert test.p == pytest.approx(0.0171, abs=5e-5)


def test_slope_is_ordinary_least_squares(machine: Verdicts) -> None:
    y, participant, item = machine
    length = 20 + 5.5 * item
    fit = sm.OLS(y, sm.add_constant(length)).fit()
    assert stats.slope(y, length, participant, item).value == pytest.approx(float(fit.params[1]))


def test_an_empty_bin_in_the_middle_keeps_its_number() -> None:
    gap = stats.cochran_armitage([5, 0, 9, 12], [10, 0, 12, 14])
    assert gap == stats.cochran_armitage([5, 9, 12], [10, 12, 14], scores=[0, 2, 3])
    assert gap.bins == 3
    assert gap.z != stats.cochran_armitage([5, 9, 12], [10, 12, 14]).z


@given(
    st.lists(
        st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        min_size=2,
        max_size=8,
    )
)
def test_trend_equals_statsmodels_linear_association(bins: list[tuple[int, int]]) -> None:
    right = np.array([x for x, _ in bins])
    total = np.array([n for _, n in bins])
    got = stats.cochran_armitage(right, total)
    if right.sum() in (0, total.sum()):
        assert (got.z, got.p, got.lack) == (None, None, "no_spread")
        return
    table = Table(np.column_stack([total - right, right]), shift_zeros=False)
    result = table.test_ordinal_association(np.arange(len(bins)), np.array([0, 1]))
    assert got.z == pytest.approx(float(result.zscore), abs=1e-9)
    assert got.p == pytest.approx(float(result.pvalue), abs=1e-9)


@pytest.mark.parametrize(
    ("right", "total", "n", "lack"),
    [
        ([0, 0], [0, 0], 0, "no_data"),
        ([3, 0], [5, 0], 5, "no_spread"),
        ([0, 0], [5, 5], 10, "no_spread"),
        ([5, 5], [5, 5], 10, "no_spread"),
    ],
)
def test_trend_undefined_cases(right: list[int], total: list[int], n: int, lack: str) -> None:
    got = stats.cochran_armitage(right, total)
    assert (got.z, got.p, got.n, got.lack) == (None, None, n, lack)


def test_slope_undefined_cases() -> None:
    assert stats.slope([], [], [], []).lack == "no_data"
    constant = stats.slope([1, 0, 1], [7.1, 7.1, 7.1], [0, 1, 2], [0, 1, 2])
    assert (constant.value, constant.n, constant.lack) == (None, 3, "no_spread")
    perfect = stats.slope([0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 2, 3])
    assert (perfect.value, perfect.se) == (1.0, None)

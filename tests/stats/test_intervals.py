"""Intervals for independent observations, and what is read from an interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from turingsite import stats


@pytest.mark.parametrize(
    ("x", "n", "low", "high"), [(34, 100, 0.2546, 0.4372), (2, 100, 0.0055, 0.0700), (17, 40, 0.2851, 0.5780)]
)
def test_wilson_interval(x: int, n: int, low: float, high: float) -> None:
    got = stats.wilson(x, n)
    assert (got.value, got.n) == (x / n, n)
    assert got.low == pytest.approx(low, abs=5e-5)
    assert got.high == pytest.approx(high, abs=5e-5)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_statsmodels_and_holds_its_point(counts: tuple[int, int]) -> None:
    x, n = counts
    got = stats.wilson(x, n)
    assert got.low is not None
    assert got.high is not None
    low, high = proportion_confint(x, n, method="wilson")
    assert got.low == pytest.approx(low, abs=1e-12)
    assert got.high == pytest.approx(high, abs=1e-12)
    assert 0 <= got.low <= x / n <= got.high <= 1
    mirrored = stats.wilson(n - x, n)
    assert mirrored.low == pytest.approx(1 - got.high, abs=1e-12)


@pytest.mark.parametrize(("x", "n", "se"), [(116, 142, 0.0325), (156, 430, 0.0232), (17, 40, 0.0782)])
def test_plain_standard_error(x: int, n: int, se: float) -> None:
    assert stats.plain_se(x, n) == pytest.approx(se, abs=5e-5)


def test_no_data_is_no_value_with_n() -> None:
    got = stats.wilson(0, 0)
    assert (got.value, got.low, got.high, got.se, got.n, got.lack) == (None, None, None, None, 0, "no_data")
    assert stats.plain_se(0, 0) is None


@pytest.mark.parametrize(("x", "n"), [(3, 2), (-1, 2), (0, -1)])
def test_impossible_counts_are_refused(x: int, n: int) -> None:
    with pytest.raises(ValueError):
        stats.wilson(x, n)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.1, 0.49, "below"),
        (0.51, 0.9, "above"),
        (0.4, 0.6, "undecided"),
        (0.5, 0.9, "undecided"),
        (0.1, 0.5, "undecided"),
        (None, None, None),
    ],
)
def test_standing_comes_from_the_interval(
    low: float | None, high: float | None, expected: str | None
) -> None:
    assert stats.standing(stats.Estimate(0.5, 40, low=low, high=high)) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(-0.09, 0.09, True), (-0.11, 0.0, False), (0.0, 0.10, False), (None, None, None)],
)
def test_equivalence_needs_the_narrow_interval_inside_the_margin(
    low: float | None, high: float | None, expected: bool | None
) -> None:
    assert stats.equivalent(stats.Estimate(0.0, 40, low=low, high=high, level=0.90), 0.10) is expected


def test_equivalence_refuses_a_95_percent_interval() -> None:
    with pytest.raises(ValueError, match="90"):
        stats.equivalent(stats.Estimate(0.0, 40, low=-0.01, high=0.01), 0.10)


@given(st.integers(2, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_p_against_a_half_agrees_with_the_interval(counts: tuple[int, int]) -> None:
    got = stats.wilson(*counts)
    p = stats.proportion_test(got).p
    assert p is not None
    # Away from the edge, where both are rounding.
    if abs(p - 0.05) > 1e-9:
        assert (p < 0.05) is (stats.standing(got) != "undecided")

"""Krippendorff's alpha against his own examples and a sum over pairs; percent agreement; Spearman–Brown."""

from __future__ import annotations

from itertools import permutations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from turingsite import stats
from turingsite.stats.agreement import Metric

from .conftest import RATED, scores_of

cells = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, float("nan")])
tables = st.integers(1, 4).flatmap(
    lambda raters: st.lists(st.lists(cells, min_size=raters, max_size=raters), min_size=1, max_size=8)
)
metrics = st.sampled_from(get_args(Metric))


def alpha_by_pairs(scores: NDArray[np.float64], metric: str) -> float | None:
    """Alpha as it is defined, one pair of scores at a time."""
    units = [[x for x in row if not np.isnan(x)] for row in scores.tolist()]
    units = [row for row in units if len(row) > 1]
    pooled = [x for row in units for x in row]
    n = len(pooled)

    def distance(a: float, b: float) -> float:
        low, high = min(a, b), max(a, b)
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        between = sum(low <= x <= high for x in pooled)
        return (between - (pooled.count(low) + pooled.count(high)) / 2) ** 2

    observed = sum(sum(distance(*pair) for pair in permutations(row, 2)) / (len(row) - 1) for row in units)
    expected = sum(distance(*pair) for pair in permutations(pooled, 2))
    if len(units) < 2 or expected == 0:
        return None
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.mark.parametrize(("metric", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_textbook_set_of_four_raters_and_twelve_units(metric: Metric, value: float) -> None:
    got = stats.krippendorff_alpha(scores_of(RATED), metric)
    assert got.value == pytest.approx(value, abs=5e-4)
    # The twelfth unit has one score, which pairs with nothing.
    assert (got.n, got.items, got.lack) == (40, 11, "")


def test_percent_agreement_of_the_textbook_set() -> None:
    # Σ o_cc = 7 + 10 + 8 + 4 + 3 of 40 pairable values.
    got = stats.percent_agreement(scores_of(RATED))
    assert (got.value, got.n, got.items) == pytest.approx((32 / 40, 40, 11))


@pytest.mark.parametrize(
    ("rows", "value"), [("0100000010 1110010000", 0.095), ("112243335441 212223335444", 0.692)]
)
def test_textbook_sets_of_two_raters(rows: str, value: float) -> None:
    assert stats.krippendorff_alpha(scores_of(rows), "nominal").value == pytest.approx(value, abs=5e-4)


def test_counting_no_evidence_as_a_middle_score_makes_agreement() -> None:
    scores = scores_of("333333354215 333333344125 334333355224")
    flagged = np.zeros(scores.shape, dtype=bool)
    flagged[:7] = True
    flagged[2, 2] = False
    coded = stats.codings(scores, flagged)
    published, evidence = (stats.krippendorff_alpha(array) for array in (coded.published, coded.evidence))
    assert (published.value, evidence.value) == pytest.approx((0.9241, 0.7168), abs=5e-5)
    # The lone 4 has evidence and no other score to pair with.
    assert (published.n, evidence.n, evidence.items) == (36, 15, 5)
    assert float(coded.published.mean()) == pytest.approx(3.1944, abs=5e-5)
    assert float(np.nanmean(coded.evidence)) == pytest.approx(3.4375)
    assert (coded.share, coded.n) == (20 / 36, 36)


@pytest.mark.parametrize("metric", get_args(Metric))
def test_equal_ratings_have_agreement_but_no_alpha(metric: Metric) -> None:
    scores = np.full((6, 3), 4.0)
    scores[0, 0] = np.nan
    alpha, agreement = stats.krippendorff_alpha(scores, metric), stats.percent_agreement(scores)
    assert (alpha.value, alpha.n, alpha.items, alpha.lack) == (None, 17, 6, "no_spread")
    assert (agreement.value, agreement.n) == (1.0, 17)


def test_a_value_nobody_can_pair_is_no_spread() -> None:
    # The 5 stands alone in its unit.
    assert stats.krippendorff_alpha(scores_of("3335 333.")).lack == "no_spread"


@pytest.mark.parametrize(
    ("rows", "n", "units"), [("... ...", 0, 0), ("123", 0, 0), ("12. ..3", 0, 0), ("12. 2.3", 2, 1)]
)
def test_too_little_data_is_no_alpha_with_n(rows: str, n: int, units: int) -> None:
    got = stats.krippendorff_alpha(scores_of(rows))
    assert (got.value, got.n, got.items, got.lack) == (None, n, units, "no_data")
    assert stats.percent_agreement(scores_of(rows)).n == n


def test_no_units_at_all() -> None:
    for got in (stats.krippendorff_alpha(np.empty((0, 3))), stats.percent_agreement(np.empty((0, 3)))):
        assert (got.value, got.n, got.lack) == (None, 0, "no_data")


@given(tables, metrics)
def test_alpha_is_its_definition_for_any_ratings(rows: list[list[float]], metric: Metric) -> None:
    scores = np.array(rows)
    got = stats.krippendorff_alpha(scores, metric).value
    assert got == (pytest.approx(wanted) if (wanted := alpha_by_pairs(scores, metric)) is not None else None)


@given(tables, metrics, st.randoms(use_true_random=False))
def test_neither_order_nor_columns_matter(rows: list[list[float]], metric: Metric, rng) -> None:
    got = stats.krippendorff_alpha(np.array(rows), metric)
    shuffled = [[*rng.sample(row, len(row)), float("nan")] for row in rng.sample(rows, len(rows))]
    again = stats.krippendorff_alpha(np.array(shuffled), metric)
    assert (again.n, again.items, again.lack) == (got.n, got.items, got.lack)
    assert again.value == (None if got.value is None else pytest.approx(got.value))


@given(tables)
def test_ordinal_alpha_knows_the_order_alone(rows: list[list[float]]) -> None:
    scores = np.array(rows)
    got, stretched = stats.krippendorff_alpha(scores), stats.krippendorff_alpha(np.exp(scores))
    assert stretched.value == (None if got.value is None else pytest.approx(got.value))


def test_percent_agreement_counts_a_value_once_however_many_raters() -> None:
    # Three scores 1 1 2: one pair of three is equal, 3 × 1/3 values; two scores 4 4: 2 values.
    assert stats.percent_agreement(scores_of("14 14 2.")).value == pytest.approx((1 + 2) / 5)
    # As many raters everywhere: the plain share of equal pairs.
    assert stats.percent_agreement(scores_of("14 14 25")).value == pytest.approx(2 / 6)


def test_spearman_brown() -> None:
    # Two halves that correlate .5 make a test of reliability 2/3; three raters of .5 one of .75.
    assert stats.spearman_brown(0.5, 2) == pytest.approx(2 / 3)
    assert stats.spearman_brown(0.5, 3) == pytest.approx(0.75)
    assert stats.spearman_brown(0.42, 1) == pytest.approx(0.42)
    assert stats.spearman_brown(-0.1, 3) == pytest.approx(-0.375)
    assert stats.spearman_brown(1.0, 5) == 1.0
    # Six raters' reliability back to that of one.
    assert stats.spearman_brown(stats.spearman_brown(0.3, 6), 1 / 6) == pytest.approx(0.3)


def test_spearman_brown_without_a_meaning_has_no_value() -> None:
    assert stats.spearman_brown(None, 3) is None
    assert stats.spearman_brown(-0.5, 3) is None
    with pytest.raises(ValueError, match="above 0"):
        stats.spearman_brown(0.5, 0)


def test_spearman_brown_of_alpha_is_the_reliability_of_the_mean_score() -> None:
    """Interval alpha of one rater each, stepped up, foretells how means of three raters go together."""
    rng = np.random.default_rng(4)
    truth = rng.normal(0, 1, (4000, 1))
    scores = truth + rng.normal(0, 1.5, (4000, 6))
    alpha = stats.krippendorff_alpha(scores.round(1), "interval").value
    between = float(np.corrcoef(scores[:, :3].mean(axis=1), scores[:, 3:].mean(axis=1))[0, 1])
    assert stats.spearman_brown(alpha, 3) == pytest.approx(between, abs=0.02)


def test_bad_ratings_are_refused() -> None:
    with pytest.raises(ValueError, match="units × raters"):
        stats.krippendorff_alpha([1.0, 2.0])
    with pytest.raises(ValueError, match="finite"):
        stats.percent_agreement([[1.0, float("inf")]])
    with pytest.raises(ValueError, match="metric"):
        stats.krippendorff_alpha([[1.0, 2.0]], "ratio")  # type: ignore[arg-type]

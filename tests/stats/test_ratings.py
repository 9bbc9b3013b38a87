"""Long rows as arrays, and the two codings of no evidence."""

from __future__ import annotations

import random

import numpy as np
import pytest

from turingsite import stats

ROWS = [
    # dialogue, rater, dimension, score
    ("d2", "anna", "rhythm", 4),
    ("d1", "bo", "stress", 1),
    ("d1", "anna", "rhythm", 2),
    ("d2", "cleo", "rhythm", 5),
    ("d1", "cleo", "rhythm", float("nan")),
    ("d2", "bo", "stress", 3),
    ("d1", "cleo", "stress", 2),
]


def test_rows_become_units_by_raters_by_dimensions() -> None:
    unit, rater, dimension, score = zip(*ROWS, strict=True)
    got = stats.ratings_array(score, unit, rater, dimension)
    assert got.units.tolist() == ["d1", "d2"]
    assert got.raters.tolist() == ["anna", "bo", "cleo"]
    assert got.dimensions.tolist() == ["rhythm", "stress"]
    nan = float("nan")
    np.testing.assert_array_equal(got.values[:, :, 0], [[2, nan, nan], [4, nan, 5]])
    np.testing.assert_array_equal(got.values[:, :, 1], [[nan, 1, 2], [nan, 3, nan]])


def test_without_raters_columns_are_slots() -> None:
    unit, _rater, dimension, score = zip(*ROWS, strict=True)
    got = stats.ratings_array(score, unit, dimension=dimension)
    assert got.values.shape == (2, 2, 2)
    assert got.raters.size == 0
    np.testing.assert_array_equal(got.values[:, :, 1], [[1, 2], [3, np.nan]])
    flat = stats.ratings_array([5, 4, 3], ["b", "a", "b"])
    np.testing.assert_array_equal(flat.values, [[4, np.nan], [5, 3]])
    assert flat.dimensions.size == 0


def test_the_order_of_rows_moves_no_bound() -> None:
    rng = random.Random(3)
    rows = [(f"d{d}", f"r{r}", q, rng.randint(1, 5)) for d in range(20) for r in range(3) for q in "xy"]
    found = []
    for _ in range(2):
        unit, _rater, dimension, score = zip(*rows, strict=True)
        found.append(
            stats.alpha_intervals(stats.ratings_array(score, unit, dimension=dimension).values, draws=200)
        )
        rng.shuffle(rows)
    assert found[0] == found[1]


def test_a_second_score_of_the_same_rater_is_refused() -> None:
    with pytest.raises(ValueError, match="once"):
        stats.ratings_array([1, 2], ["d", "d"], ["anna", "anna"])
    with pytest.raises(ValueError, match="one label"):
        stats.ratings_array([1, 2], ["d"])


def test_no_rows() -> None:
    assert stats.ratings_array([], []).values.shape == (0, 0)
    assert stats.ratings_array([], [], [], []).values.shape == (0, 0, 0)


def test_codings_of_no_evidence() -> None:
    nan = float("nan")
    got = stats.codings([[3, 4, nan], [nan, 3, 1]], [[True, False, False], [True, False, False]])
    np.testing.assert_array_equal(got.published, [[3, 4, nan], [3, 3, 1]])
    np.testing.assert_array_equal(got.evidence, [[nan, 4, nan], [nan, 3, 1]])
    assert (got.share, got.n) == (2 / 5, 5)


def test_codings_without_answers_have_no_share() -> None:
    got = stats.codings([float("nan")], [False])
    assert (got.share, got.n) == (None, 0)
    with pytest.raises(ValueError, match="same shape"):
        stats.codings([1, 2], [True])

"""AUC of what is not the talk: published length bins, scikit-learn, what has no value."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from turingsite import stats

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "paper_vectors.json"


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [("H-M", "PH", 0.8284), ("H-H", "PH", 0.7965), ("H-H", "H-M", 0.4542)],
)
def test_published_length_bins(positive: str, negative: str, expected: float) -> None:
    if not VECTORS.exists():
        pytest.skip(f"the published counts are not beside the project ({VECTORS.name})")
    cells = json.loads(VECTORS.read_text())["cochran_armitage_table10_11"]
    high, low = (np.repeat(np.arange(8), cells[kind]["n"]) for kind in (positive, negative))
    got = stats.auc(np.concatenate([high, low]), [True] * high.size + [False] * low.size)
    assert got.value == pytest.approx(expected, abs=5e-5)
    assert got.n == high.size + low.size
    assert got.low is not None
    assert got.high is not None
    assert got.low < expected < got.high


def test_worked_by_hand() -> None:
    # Positives 3, 5; negatives 1, 3, 4. Pairs: 3>1, 3=3, 3<4, 5>1, 5>3, 5>4 → (1 + ½ + 0 + 3)/6 = .75.
    got = stats.auc([3, 5, 1, 3, 4], [1, 1, 0, 0, 0])
    assert got.value == pytest.approx(0.75)
    # V₁₀ = .5, 1: S² = .125; V₀₁ = 1, .75, .5: S² = .0625; V = .125/2 + .0625/3.
    assert got.se == pytest.approx(np.sqrt(0.125 / 2 + 0.0625 / 3))


@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=60).filter(
        lambda rows: len({positive for _value, positive in rows}) == 2
    )
)
def test_value_is_that_of_scikit_learn_and_turns_round(rows: list[tuple[int, bool]]) -> None:
    values, positive = np.array([v for v, _ in rows]), np.array([p for _, p in rows])
    got = stats.auc(values, positive)
    assert got.value == pytest.approx(roc_auc_score(positive, values))
    other = stats.auc(-values, positive)
    assert got.value is not None
    assert other.value == pytest.approx(1 - got.value)


def test_the_interval_covers() -> None:
    draw = np.random.default_rng(5)
    hits = 0
    for _unused in range(400):
        x = np.concatenate([draw.normal(0.7, 1, 40), draw.normal(0, 1, 40)])
        got = stats.auc(x, [True] * 40 + [False] * 40)
        assert got.low is not None
        assert got.high is not None
        hits += got.low < 0.6897 < got.high  # Φ(.7/√2)
    assert 0.92 <= hits / 400 <= 0.98


def test_what_is_not_measured_is_left_out() -> None:
    got = stats.auc([1, np.nan, 0, 2, np.nan], [1, 1, 0, 1, 0])
    assert (got.value, got.n) == (1.0, 3)


def test_no_value_without_two_classes_and_no_interval_without_spread() -> None:
    assert (stats.auc([], []).value, stats.auc([1, 2], [1, 1]).value) == (None, None)
    assert stats.auc([np.nan, 1], [1, 0]).lack == "no_data"
    apart = stats.auc([3, 4, 1, 2], [1, 1, 0, 0])
    assert (apart.value, apart.low, apart.lack) == (1.0, None, "no_spread")
    assert stats.auc([3, 1, 2], [1, 0, 0]).lack == "one_cluster"
    with pytest.raises(ValueError, match="one entry"):
        stats.auc([1], [1, 0])


def test_a_model_finds_what_no_feature_shows_alone() -> None:
    draw = np.random.default_rng(3)
    signal = np.arange(200) % 2 == 0
    common = draw.normal(0, 5, 200)
    features = np.column_stack([common + np.where(signal, 1.0, -1.0), common])
    alone = stats.auc(features[:, 0], signal)
    together = stats.cross_validated_auc(features, signal)
    assert alone.value is not None
    assert together.value is not None
    assert alone.value < 0.7
    assert together.value > 0.99


def test_a_model_finds_nothing_where_there_is_nothing_and_says_so_each_time() -> None:
    draw = np.random.default_rng(4)
    features, signal = draw.normal(0, 1, (300, 6)), np.arange(300) % 2 == 0
    got = stats.cross_validated_auc(features, signal)
    assert got == stats.cross_validated_auc(features, signal)
    assert got.value is not None
    assert abs(got.value - 0.5) < 0.1


def test_that_it_was_not_measured_can_give_it_away() -> None:
    signal = np.arange(40) % 2 == 0
    features = np.where(signal, np.nan, 1.0)[:, None]
    assert stats.cross_validated_auc(features, signal).value == pytest.approx(1.0)


def test_a_model_needs_two_of_each_and_something_that_varies() -> None:
    assert stats.cross_validated_auc([[1.0], [2.0], [3.0]], [1, 0, 0]).lack == "no_data"
    assert stats.cross_validated_auc([[1.0]] * 8, [1, 0] * 4).lack == "no_spread"
    assert stats.cross_validated_auc(np.empty((8, 0)), [1, 0] * 4).lack == "no_spread"
    assert stats.cross_validated_auc([[1.0], [2.0], [3.0], [4.0]], [1, 0, 1, 0]).n == 4
    with pytest.raises(ValueError, match="one row per item"):
        stats.cross_validated_auc([1.0, 2.0], [1, 0])

"""Two raters: printed values, scikit-learn, statsmodels, and what only weights by value do right."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import cohens_kappa

from turingsite import stats

from .conftest import RATED, scores_of

SCALE = [1, 2, 3, 4, 5]
pairs = st.lists(st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE)), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("table", "kappa", "ac1"),
    [
        ([[366, 30, 12], [7, 78, 17], [11, 10, 489]], 0.8539, 0.8796),
        ([[123, 12, 8], [9, 8, 23], [4, 1, 182]], 0.7253, 0.7862),
        # Gwet 2014, two abstractors of 100 records.
        ([[13, 0, 0], [0, 20, 7], [0, 4, 56]], 0.7964, 0.8493),
    ],
)
def test_printed_tables(table: list[list[int]], kappa: float, ac1: float) -> None:
    assert stats.kappa_from_table(table).value == pytest.approx(kappa, abs=5e-5)
    assert stats.ac1_from_table(table).value == pytest.approx(ac1, abs=5e-5)
    assert stats.ac1_from_table(table).n == np.sum(table)


def test_cohens_own_example() -> None:
    assert stats.kappa_from_table([[88, 14, 18], [10, 40, 10], [2, 6, 12]]).value == pytest.approx(
        0.492, abs=5e-4
    )


def test_ac1_holds_where_nearly_all_is_one_answer() -> None:
    table = [[118, 5], [2, 0]]
    assert stats.kappa_from_table(table).value == pytest.approx(-0.0234, abs=5e-5)
    assert stats.ac1_from_table(table).value == pytest.approx(0.9408, abs=5e-5)


@given(pairs, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_equals_scikit_learn_and_statsmodels(rows: list[tuple[int, int]], weights) -> None:
    first, second = zip(*rows, strict=True)
    got = stats.cohen_kappa(first, second, weights=weights)
    if got.value is None:
        assert (got.lack, set(first)) == ("no_spread", set(second))
        return
    assert got.n == len(rows)
    assert got.value == pytest.approx(cohen_kappa_score(first, second, weights=weights, labels=SCALE))
    # Values that nobody used change nothing.
    assert stats.cohen_kappa(first, second, weights=weights, values=SCALE).value == pytest.approx(got.value)
    table = confusion_matrix(first, second, labels=SCALE)
    theirs = cohens_kappa(
        table, return_results=False, wt={None: None, "linear": "ca", "quadratic": "fc"}[weights]
    )
    assert stats.kappa_from_table(table, weights=weights).value == pytest.approx(theirs)


@given(pairs)
def test_vectors_and_their_table_agree(rows: list[tuple[int, int]]) -> None:
    first, second = zip(*rows, strict=True)
    table = stats.confusion(first, second, values=SCALE)
    assert (table.counts == confusion_matrix(first, second, labels=SCALE)).all()
    assert stats.gwet_ac1(first, second, values=SCALE) == stats.ac1_from_table(table.counts)
    assert stats.cohen_kappa(first, second, values=SCALE) == stats.kappa_from_table(
        table.counts, values=SCALE
    )


def test_weights_go_by_value_not_by_which_values_were_seen() -> None:
    # Nobody said 2, 3 or 4: between 1 and 5 lie four steps all the same, next to which 4 and 5 are close.
    first, second = [1, 1, 5, 5, 4], [1, 5, 5, 5, 5]
    whole = cohen_kappa_score(first, second, weights="quadratic", labels=SCALE)
    assert stats.cohen_kappa(first, second, weights="quadratic").value == pytest.approx(whole)
    assert cohen_kappa_score(first, second, weights="quadratic") != pytest.approx(whole)


def test_scores_without_a_partner_are_left_out() -> None:
    nan = float("nan")
    got = stats.cohen_kappa([1, 2, nan, 3, 1], [1, 2, 2, nan, 2])
    assert (got.value, got.n) == pytest.approx((cohen_kappa_score([1, 2, 1], [1, 2, 2]), 3))


def test_ac1_depends_on_what_could_have_been_said() -> None:
    assert stats.gwet_ac1([3, 3, 3], [3, 3, 3]).lack == "no_spread"
    assert stats.gwet_ac1([3, 3, 3], [3, 3, 3], values=SCALE).value == 1.0
    # π = (.75, .25): p_e = 2 × .75 × .25 / (q − 1), agreement .5.
    for values, expected in (([1, 2], 0.375), (SCALE, 0.375 / 4)):
        got = stats.gwet_ac1([1, 1], [1, 2], values=values).value
        assert got == pytest.approx((0.5 - expected) / (1 - expected))


def test_undefined_kappas() -> None:
    nothing, constant = stats.cohen_kappa([], []), stats.cohen_kappa([2, 2], [2, 2], weights="quadratic")
    assert (nothing.value, nothing.n, nothing.lack) == (None, 0, "no_data")
    assert (constant.value, constant.n, constant.lack) == (None, 2, "no_spread")
    # Always the same each, but not the same: chance explains all of it.
    assert stats.cohen_kappa([2, 2], [3, 3]).value == 0.0
    assert stats.gwet_ac1([], [], values=SCALE).lack == "no_data"


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_pairs_of_raters_equal_one_pair_at_a_time(weights) -> None:
    scores = scores_of(RATED)
    got = stats.pairwise_kappa(scores, weights=weights)
    assert [(pair.first, pair.second) for pair in got.pairs] == list(combinations(range(4), 2))
    for pair in got.pairs:
        one = stats.cohen_kappa(scores[:, pair.first], scores[:, pair.second], weights=weights)
        assert (pair.kappa.value, pair.kappa.n) == pytest.approx((one.value, one.n))
    total = sum(pair.kappa.n for pair in got.pairs)
    assert got.mean.value == pytest.approx(
        sum((pair.kappa.value or 0) * pair.kappa.n for pair in got.pairs) / total
    )
    assert (got.mean.n, got.mean.participants) == (total, 4)


def test_complete_ratings_give_lights_kappa() -> None:
    scores = np.random.default_rng(3).integers(1, 6, (30, 3)).astype(float)
    each = [
        cohen_kappa_score(scores[:, a], scores[:, b], weights="quadratic")
        for a, b in combinations(range(3), 2)
    ]
    assert stats.pairwise_kappa(scores).mean.value == pytest.approx(np.mean(each))


def test_pairs_that_share_too_little_have_no_kappa() -> None:
    # Raters 0 and 1 share four units, 1 and 2 one, 0 and 2 none; 3 and 4 never differ.
    scores = scores_of("1234.... 12443... ....5... .....222 .....222")
    got = stats.pairwise_kappa(scores)
    found = {(pair.first, pair.second): pair.kappa for pair in got.pairs}
    assert set(found) == {(0, 1), (1, 2), (3, 4)}
    assert (found[1, 2].value, found[1, 2].n, found[1, 2].lack) == (None, 1, "no_data")
    assert (found[3, 4].value, found[3, 4].n, found[3, 4].lack) == (None, 3, "no_spread")
    assert (got.mean.value, got.mean.n, got.mean.participants) == (found[0, 1].value, 4, 2)
    assert stats.pairwise_kappa(scores, fewest=5).mean.value is None


@pytest.mark.parametrize("rows", ["... ...", "123", "22 22"])
def test_no_pair_no_mean(rows: str) -> None:
    mean = stats.pairwise_kappa(scores_of(rows)).mean
    assert (mean.value, mean.n, mean.lack) == (None, 0, "no_spread" if rows == "22 22" else "no_data")


def test_bad_tables_and_scores_are_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        stats.kappa_from_table([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(ValueError, match="0 or more"):
        stats.ac1_from_table([[1, -2], [0, 4]])
    with pytest.raises(ValueError, match="not on the scale"):
        stats.cohen_kappa([1, 6], [1, 2], values=SCALE)
    with pytest.raises(ValueError, match="rise"):
        stats.cohen_kappa([1, 2], [1, 2], values=[2, 1])
    with pytest.raises(ValueError, match="one value per row"):
        stats.kappa_from_table([[1, 2], [3, 4]], values=SCALE)
    with pytest.raises(ValueError, match="one entry"):
        stats.gwet_ac1([1, 2], [1])
    with pytest.raises(ValueError, match="weights"):
        stats.cohen_kappa([1, 2], [1, 2], weights="cubic")  # type: ignore[arg-type]

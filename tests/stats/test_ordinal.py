"""Scores against a reference, worked by hand."""

from __future__ import annotations

import pytest

from turingsite import stats

NAN = float("nan")


def test_exact_group_and_within_one() -> None:
    scores = [5, 1, 2, 4, 1]
    reference = [5, 2, 3, 3, 4]
    got = stats.ordinal_accuracy(scores, reference)
    assert got == stats.OrdinalAccuracy(5, 1 / 5, 2 / 5, 4 / 5)


@pytest.mark.parametrize(
    ("score", "reference", "exact", "group", "near"),
    [
        (1, 2, 0, 1, 1),
        (4, 5, 0, 1, 1),
        (3, 3, 1, 1, 1),
        (2, 3, 0, 0, 1),
        (3, 4, 0, 0, 1),
        (2, 4, 0, 0, 0),
        (1, 5, 0, 0, 0),
        (3, 5, 0, 0, 0),
    ],
)
def test_each_kind_of_miss(score: int, reference: int, exact: int, group: int, near: int) -> None:
    for pair in ((score, reference), (reference, score)):
        assert stats.ordinal_accuracy(*([one] for one in pair)) == stats.OrdinalAccuracy(
            1, exact, group, near
        )


def test_pairs_without_evidence_are_left_out() -> None:
    assert stats.ordinal_accuracy([1, NAN, 5], [1, 2, NAN]) == stats.OrdinalAccuracy(1, 1.0, 1.0, 1.0)
    assert stats.ordinal_accuracy([NAN], [2]) == stats.OrdinalAccuracy(0, None, None, None)


@pytest.mark.parametrize("score", [0, 6, 3.5])
def test_scores_off_the_scale_are_refused(score: float) -> None:
    with pytest.raises(ValueError, match="scores"):
        stats.ordinal_accuracy([score], [3])
    with pytest.raises(ValueError, match="scores"):
        stats.ordinal_accuracy([3], [score])


def test_mean_absolute_difference_counts_what_both_had_evidence_for() -> None:
    got = stats.mean_absolute_difference([1, 5, NAN, 4], [3, 4, 2, NAN])
    assert (got.value, got.n) == (1.5, 2)
    nothing = stats.mean_absolute_difference([NAN], [2])
    assert (nothing.value, nothing.n, nothing.lack) == (None, 0, "no_data")


def test_right_side_of_clear_reference_scores() -> None:
    #   right: 2 for 1, 5 for 4; wrong: 4 for 2, 3 for 5, no evidence for 1; not clear: 3, none
    got = stats.right_side_share([2, 5, 4, 3, NAN, 1, 1], [1, 4, 2, 5, 1, 3, NAN])
    assert (got.value, got.n) == pytest.approx((2 / 5, 5))


def test_saying_no_evidence_throughout_puts_nothing_on_the_right_side() -> None:
    reference = [1, 2, 4, 5]
    assert stats.right_side_share([NAN] * 4, reference).value == 0.0
    assert stats.right_side_share([3] * 4, reference).value == 0.0
    assert stats.right_side_share(reference, reference).value == 1.0


def test_no_clear_score_no_share() -> None:
    for got in (stats.right_side_share([1, 2], [3, NAN]), stats.clear_against_truth([3, NAN], [True, False])):
        assert (got.value, got.n, got.lack) == (None, 0, "no_data")


def test_clear_scores_against_the_truth() -> None:
    # Against: 1 for a human, 4 for a machine; 3 and none are not clear.
    got = stats.clear_against_truth(
        [1, 5, 4, 2, 3, NAN, 5, 4], [True, True, False, False, True, False, True, True]
    )
    assert (got.value, got.n) == pytest.approx((2 / 6, 6))


def test_means_of_several_raters_may_be_the_reference() -> None:
    # 3.67 is no clear score; 4.33 is.
    assert stats.right_side_share([5, 5], [3.67, 4.33]).n == 1
    assert stats.clear_against_truth([2.33, 1.67], [True, True]).n == 1


def test_uneven_input_is_refused() -> None:
    for measure in (
        stats.ordinal_accuracy,
        stats.mean_absolute_difference,
        stats.right_side_share,
        stats.clear_against_truth,
    ):
        with pytest.raises(ValueError, match="one entry"):
            measure([1, 2], [1])
    for measure in (stats.right_side_share, stats.clear_against_truth):
        with pytest.raises(ValueError, match="between 1 and 5"):
            measure([7], [1])

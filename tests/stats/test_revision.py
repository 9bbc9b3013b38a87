"""What a review changed, on a set worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from turingsite import stats

#: Dimension, what speaker B is, raw score, revised score.
REVIEWED = [
    ("rhythm", "human", 2, 5),  # towards 5 by 3
    ("rhythm", "human", 4, 4),
    ("rhythm", "machine", 4, 3),  # towards 1 by 1
    ("rhythm", "machine", 2, 4),  # away by 2
    ("stress", "machine", 5, 1),  # towards 1 by 4
    ("stress", "human", 3, 3),
    ("stress", "human", 5, 5),
    ("accent", "machine", 1, 1),
]


def columns() -> tuple[list[str], list[int], list[int], list[bool]]:
    dimension, nature, raw, revised = zip(*REVIEWED, strict=True)
    return list(dimension), list(raw), list(revised), [what == "human" for what in nature]


def test_constructed_review_equals_the_hand_calculation() -> None:
    _dimension, raw, revised, is_human = columns()
    got = stats.revision_impact(raw, revised, is_human)
    assert (got.n, got.changed, got.share) == (8, 4, 0.5)
    # Moves 3, −1, 2, −4: squares 9 + 1 + 4 + 16 = 30 over 4.
    assert got.rmse == pytest.approx(math.sqrt(7.5))
    assert got.ratio == pytest.approx(math.sqrt(7.5) / 4)
    # Towards the truth 3, 1, −2, 4.
    assert (got.pull, got.move) == (0.75, 1.5)


def test_review_by_dimension() -> None:
    dimension, raw, revised, is_human = columns()
    got = stats.revision_impact_by(dimension, raw, revised, is_human)
    assert list(got) == ["accent", "rhythm", "stress"]
    rhythm, stress = got["rhythm"], got["stress"]
    assert (rhythm.n, rhythm.changed, rhythm.share) == (4, 3, 0.75)
    # Moves 3, −1, 2; towards the truth 3, 1, −2.
    assert rhythm.rmse == pytest.approx(math.sqrt(14 / 3))
    assert (rhythm.pull, rhythm.move) == pytest.approx((2 / 3, 2 / 3))
    assert (stress.n, stress.changed, stress.rmse, stress.ratio) == (3, 1, 4.0, 1.0)
    assert (stress.pull, stress.move) == (1.0, 4.0)
    assert got["accent"] == stats.RevisionImpact(1, 0, 0.0, None, None, None, None)


def test_published_ratio_is_rmse_over_four() -> None:
    # Published overall: RMSE 1.9903, ratio .4976.
    assert 1.9903 / stats.revision_impact([1], [5]).rmse == pytest.approx(0.4976, abs=5e-5)  # type: ignore[operator]


def test_nothing_changed_has_a_share_and_nothing_else() -> None:
    assert stats.revision_impact([1, 2], [1, 2], [True, False]) == stats.RevisionImpact(
        2, 0, 0.0, None, None, None, None
    )


def test_no_scores_is_no_value() -> None:
    assert stats.revision_impact([], [], []) == stats.RevisionImpact(0, 0, None, None, None, None, None)
    assert stats.revision_impact_by([], [], []) == {}


def test_without_the_truth_there_is_no_pull() -> None:
    got = stats.revision_impact([1, 2], [3, 2])
    assert (got.share, got.rmse, got.pull, got.move) == (0.5, 2.0, None, None)
    assert stats.revision_impact_by([7, 7], [1, 2], [3, 2]) == {7: got}


def test_scores_missing_on_either_side_are_left_out() -> None:
    nan = float("nan")
    got = stats.revision_impact([1, nan, 3, nan], [2, 5, nan, nan], [True] * 4)
    assert (got.n, got.changed, got.pull) == (1, 1, 1.0)


def test_the_coding_of_no_evidence_decides_what_a_review_of_it_counts() -> None:
    raw = stats.codings([3, 3, 4], [True, False, False])
    agreed = stats.codings([5, 3, 3], [False, True, True])
    published = stats.revision_impact(raw.published, agreed.published)
    # 3 without evidence → 5 is a move of 2; 3 → no evidence is none; 4 → no evidence a move of 1.
    assert (published.n, published.changed, published.rmse) == pytest.approx((3, 2, math.sqrt(2.5)))
    assert stats.revision_impact(raw.evidence, agreed.evidence).n == 0


def test_uneven_input_is_refused() -> None:
    for wrong in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match="one entry"):
            stats.revision_impact([1, 2], wrong)
    with pytest.raises(ValueError, match="one entry"):
        stats.revision_impact([1, 2], [1, 2], [True])
    with pytest.raises(ValueError, match="one entry"):
        stats.revision_impact_by(["a"], [1, 2], [1, 2])
    with pytest.raises(ValueError, match="range"):
        stats.revision_impact(np.ones(2), np.ones(2), scale_range=0)

"""Holm's adjustment within one family."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from turingsite import stats


def test_holm() -> None:
    family = dict(zip("abcde", (0.001, 0.012, 0.03, 0.04, 0.2), strict=True))
    assert list(stats.holm(family).values()) == pytest.approx([0.005, 0.048, 0.09, 0.09, 0.2])


def test_a_comparison_without_data_does_not_count() -> None:
    assert stats.holm({"a": 0.02, "b": None, "c": 0.03}) == {"a": 0.04, "b": None, "c": 0.04}
    assert stats.holm({"a": None}) == {"a": None}
    assert stats.holm({}) == {}


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), float("inf")])
def test_impossible_p_is_refused(p: float) -> None:
    with pytest.raises(ValueError):
        stats.holm({"a": p})


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_equals_statsmodels_keeps_order_and_never_lowers(p: list[float]) -> None:
    got = stats.holm(dict(enumerate(p)))
    values = [got[i] for i in range(len(p))]
    assert values == pytest.approx(list(multipletests(p, method="holm")[1]))
    assert all(v is not None and before - 1e-12 <= v <= 1 for before, v in zip(p, values, strict=True))
    ranked = sorted(range(len(p)), key=lambda i: p[i])
    adjusted = [values[i] or 0.0 for i in ranked]
    assert adjusted == sorted(adjusted)

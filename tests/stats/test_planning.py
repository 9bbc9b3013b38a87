"""Planning: printed numbers of persons, correlations by pairs against counting every pair."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turingsite import stats

from .conftest import Verdicts


@pytest.mark.parametrize(("dialogues", "persons"), [(20, None), (30, 598), (40, 382), (60, 280), (100, 231)])
def test_persons_to_tell_40_from_50_percent(dialogues: int, persons: int | None) -> None:
    plan = stats.persons_for_test(0.40, 0.50, dialogues)
    assert (plan.persons, plan.fewest_dialogues) == (persons, 21)


@pytest.mark.parametrize(("dialogues", "persons"), [(9, 129), (18, 61)])
def test_persons_to_tell_30_from_50_percent(dialogues: int, persons: int) -> None:
    assert stats.persons_for_test(0.30, 0.50, dialogues).persons == persons


@pytest.mark.parametrize(("dialogues", "persons"), [(9, None), (18, 283)])
def test_persons_for_ten_points_either_side(dialogues: int, persons: int | None) -> None:
    assert stats.persons_for_interval(0.5, 0.10, dialogues).persons == persons


def test_more_dialogues_never_need_more_persons() -> None:
    needed = [stats.persons_for_test(0.40, 0.50, count).persons for count in range(21, 200)]
    assert None not in needed
    assert needed == sorted(needed, key=lambda n: -(n or 0))


def test_independent_verdicts_need_about_what_the_plain_formula_says() -> None:
    plan = stats.persons_for_test(0.40, 0.50, 5000, verdicts_each=1, icc_person=0, icc_dialogue=0)
    assert plan.persons == 189


@pytest.mark.parametrize(
    ("p", "against", "dialogues"), [(0.5, 0.5, 20), (0.0, 0.5, 20), (0.4, 0.5, 1), (1.2, 0.5, 20)]
)
def test_impossible_plans_are_refused(p: float, against: float, dialogues: int) -> None:
    with pytest.raises(ValueError):
        stats.persons_for_test(p, against, dialogues)


def test_correlation_by_pairs_of_the_worked_set(machine: Verdicts) -> None:
    y, participant, item = machine
    for cluster in (participant, item):
        assert stats.icc_by_pairs(y, cluster) == pytest.approx(_every_pair(list(y), list(cluster)))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=1, max_size=25))
def test_correlation_by_pairs_equals_counting_every_pair(rows: list[tuple[int, int]]) -> None:
    y, cluster = [float(row[0]) for row in rows], [row[1] for row in rows]
    expected = _every_pair(y, cluster)
    got = stats.icc_by_pairs(y, cluster)
    assert got is None if expected is None else got == pytest.approx(expected)


def _every_pair(y: list[float], cluster: list[int]) -> float | None:
    p = float(np.mean(y))
    same = [(i, j) for i, j in itertools.permutations(range(len(y)), 2) if cluster[i] == cluster[j]]
    if not same or p in (0.0, 1.0):
        return None
    return sum((y[i] - p) * (y[j] - p) for i, j in same) / (len(same) * p * (1 - p))

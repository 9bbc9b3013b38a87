"""The joint test of a factor: statsmodels, t² for one contrast, its size where nothing differs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray

from turingsite import stats
from turingsite.stats import wald

from .conftest import Verdicts


class Study(NamedTuple):
    y: NDArray[np.float64]
    factor: NDArray[np.intp]
    participant: NDArray[np.intp]
    item: NDArray[np.intp]
    kind: NDArray[np.intp]


def study(rng: np.random.Generator, people: int = 60, dialogues: int = 24, levels: int = 4) -> Study:
    """People of some levels who each judge half of the dialogues of two kinds; no level differs."""
    level = np.arange(people) % levels
    kind = np.arange(dialogues) % 2
    person, item = np.nonzero(rng.random((people, dialogues)) < 0.5)
    latent = (
        rng.normal(0, 0.35, people)[person]
        + rng.normal(0, 0.5, dialogues)[item]
        + rng.normal(0, 1, person.size)
    )
    return Study((latent > 0.3 * kind[item]).astype(float), level[person], person, item, kind[item])


def dummies(labels: NDArray[np.intp]) -> NDArray[np.float64]:
    return (labels[:, None] == np.unique(labels)[1:]).astype(float)


def test_coefficients_and_variances_are_those_of_statsmodels(monkeypatch: pytest.MonkeyPatch) -> None:
    data = study(np.random.default_rng(4))
    x = sm.add_constant(np.column_stack([dummies(data.factor), dummies(data.kind)]))
    groups = np.column_stack([data.participant, data.item])
    fit = sm.OLS(data.y, x).fit(cov_type="cluster", cov_kwds={"groups": groups})
    # statsmodels also multiplies by (N − 1)/(N − k), a correction for coefficients that two-way leaves out.
    n, k = x.shape
    variance = np.asarray(fit.cov_params())[1:4, 1:4] * (n - k) / (n - 1)
    b = np.asarray(fit.params)[1:4]
    assert np.linalg.eigvalsh(variance)[0] > 0

    # Without the lower bound the same Wald statistic comes out.
    monkeypatch.setattr(wald, "_larger", lambda one, other: other)
    got = stats.joint_wald(data.y, data.factor, data.participant, data.item, adjust=(data.kind,))
    assert got.statistic == pytest.approx(float(b @ np.linalg.solve(variance, b)) / 3, rel=1e-9)
    assert (got.df, got.df_error, got.participants, got.items) == (3, 23, 60, 24)


def test_one_contrast_is_the_square_of_t(both: tuple[Verdicts, NDArray[np.bool_]]) -> None:
    (y, participant, item), is_human = both
    got = stats.joint_wald(y, is_human, participant, item)
    difference = stats.difference(y, is_human, participant, item)
    assert difference.value is not None
    assert difference.se is not None
    assert got.statistic == pytest.approx((difference.value / difference.se) ** 2)
    assert (got.df, got.df_error, got.n) == (1, 9, 70)


def test_the_variance_bounds_each_of_the_three_for_every_contrast() -> None:
    rng = np.random.default_rng(8)
    for seed in range(20):
        data = study(np.random.default_rng(seed), people=20, dialogues=12)
        u = dummies(data.factor) * (data.y - 0.5)[:, None]
        v = wald._two_way_matrix(u, data.participant, data.item)
        assert v is not None
        n = data.y.size
        persons, dialogues = (wald._cluster_matrix(u, one) for one in (data.participant, data.item))
        for _contrast in range(50):
            c = rng.normal(size=3)
            plain = n / (n - 1) * c @ (u.T @ u) @ c
            parts = [c @ persons @ c, c @ dialogues @ c]
            assert c @ v @ c >= max(*parts, sum(parts) - plain) * (1 - 1e-9)


def test_neither_the_reference_nor_the_names_of_levels_matter() -> None:
    data = study(np.random.default_rng(5))
    one = stats.joint_wald(data.y, data.factor, data.participant, data.item, adjust=(data.kind,))
    words = np.array(["d", "b", "c", "a"])[data.factor]
    other = stats.joint_wald(
        data.y, words, [f"p{i}" for i in data.participant], data.item, adjust=(1 - data.kind, data.kind)
    )
    assert other.statistic == pytest.approx(one.statistic)
    assert other.p == pytest.approx(one.p)


def test_a_difference_is_found_and_the_adjustment_takes_it_away() -> None:
    rng = np.random.default_rng(6)
    data = study(rng, people=90)
    # Levels hear the two kinds in different shares, and only the kinds differ.
    kept = rng.random(data.y.size) < np.where((data.factor == 0) == (data.kind == 1), 1.0, 0.1)
    y = (rng.random(data.y.size) < np.where(data.kind == 1, 0.8, 0.2)).astype(float)[kept]
    factor, person, item, kind = (one[kept] for one in (data.factor, data.participant, data.item, data.kind))
    raw, adjusted = (stats.joint_wald(y, factor, person, item, adjust=by) for by in ((), (kind,)))
    assert raw.p is not None
    assert adjusted.p is not None
    assert raw.p < 0.01 < 0.05 < adjusted.p


@pytest.mark.parametrize(
    ("y", "factor", "participant", "item", "adjust", "lack"),
    [
        ([], [], [], [], (), "no_data"),
        ([1, 0, 1], [0, 0, 0], [0, 1, 2], [0, 1, 2], (), "no_spread"),
        ([1, 0, 1, 0], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 0, 1], (), "one_cluster"),
        ([1, 0, 1, 0] * 3, [0, 1] * 6, list(range(12)), list(range(12)), ([1, 0] * 6,), "no_spread"),
        ([1.0] * 12, [0, 1] * 6, list(range(12)), list(range(12)), (), "no_spread"),
    ],
)  # fmt: skip
def test_undefined_cases_have_no_p(
    y: list[float], factor: list[int], participant: list[int], item: list[int],
    adjust: tuple[list[int], ...], lack: str,
) -> None:  # fmt: skip
    got = stats.joint_wald(y, factor, participant, item, adjust=adjust)
    assert (got.statistic, got.p, got.lack, got.n) == (None, None, lack, len(y))
    with pytest.raises(ValueError, match="one entry"):
        stats.joint_wald([1, 0], [0], [0, 1], [0, 1])


@pytest.mark.slow
def test_the_size_is_kept_where_nothing_differs() -> None:
    rng = np.random.default_rng(20260301)
    found = []
    for _run in range(400):
        data = study(rng)
        found.append(
            stats.joint_wald(data.y, data.factor, data.participant, data.item, adjust=(data.kind,)).p or 0
        )
    assert 0.01 <= np.mean(np.array(found) < 0.05) <= 0.08

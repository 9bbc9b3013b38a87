"""d′, criterion and balanced accuracy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as sps
from sklearn.metrics import balanced_accuracy_score

from turingsite import stats

from .conftest import Verdicts

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "paper_vectors.json"


@pytest.mark.parametrize(
    ("counts", "dprime", "se", "criterion"),
    [((654, 922, 159, 967), 1.5258, 0.0649, 0.2121), ((654, 922, 325, 902), 0.9080, 0.0611, -0.0968)],
)
def test_dprime_and_criterion_from_counts(
    counts: tuple[int, int, int, int], dprime: float, se: float, criterion: float
) -> None:
    got = stats.detection_counts(*counts)
    assert got.dprime.value == pytest.approx(dprime, abs=5e-5)
    assert got.dprime.se == pytest.approx(se, abs=5e-5)
    assert got.criterion.value == pytest.approx(criterion, abs=5e-5)
    assert got.criterion.se == pytest.approx(se / 2, abs=5e-5)


def test_perfect_answers_have_a_finite_dprime() -> None:
    assert stats.detection_counts(10, 10, 0, 10).dprime.value == pytest.approx(3.3812, abs=5e-5)


def test_two_way_dprime_of_the_worked_set(both: tuple[Verdicts, NDArray[np.bool_]]) -> None:
    (y, participant, item), is_human = both
    got = stats.detection(y, is_human, participant, item)
    assert got.dprime.value == pytest.approx(0.8845, abs=5e-5)
    assert got.criterion.value == pytest.approx(-0.2578, abs=5e-5)
    assert got.dprime.se == pytest.approx(0.3330, abs=5e-5)
    assert got.dprime.df == 3
    plain = stats.detection_counts(
        float(y[is_human].sum()), int(is_human.sum()), float(y[~is_human].sum()), int((~is_human).sum())
    )
    assert plain.dprime.value == pytest.approx(got.dprime.value)
    assert plain.criterion.value == pytest.approx(got.criterion.value)


def test_influence_values_are_the_delta_method() -> None:
    """One verdict per person and dialogue: the two-way SE is nearly the plain one."""
    rng = np.random.default_rng(3)
    is_human = np.repeat([True, False], 2000)
    y = (rng.random(4000) < np.where(is_human, 0.7, 0.3)).astype(float)
    got = stats.detection(y, is_human, np.arange(4000), np.arange(4000)).dprime
    plain = stats.detection_counts(y[:2000].sum(), 2000, y[2000:].sum(), 2000).dprime
    assert got.se == pytest.approx(plain.se, rel=2e-3)


def test_arm_with_a_share_of_one_still_adds_variance() -> None:
    participant = np.tile(np.arange(5), 8)
    item = np.repeat(np.arange(8), 5)
    is_human = item < 4
    y = np.where(is_human, 1.0, (participant + item) % 2)
    got = stats.detection(y, is_human, participant, item).dprime
    rate = 20.5 / 21
    edge = rate * (1 - rate) / (4 * sps.norm.pdf(sps.norm.ppf(rate)) ** 2)
    assert got.se is not None
    assert got.se**2 > edge


def test_all_right_has_an_interval() -> None:
    participant, item = np.tile(np.arange(5), 8), np.repeat(np.arange(8), 5)
    got = stats.detection((item < 4).astype(float), item < 4, participant, item).dprime
    rate = 20.5 / 21
    edge = rate * (1 - rate) / (4 * sps.norm.pdf(sps.norm.ppf(rate)) ** 2)
    assert got.se == pytest.approx((2 * edge) ** 0.5)


@pytest.mark.parametrize("is_human", [[True, True], [False, False]])
def test_one_kind_alone_has_no_dprime(is_human: list[bool]) -> None:
    got = stats.detection([1, 0], is_human, [0, 1], [0, 1])
    assert (got.dprime.value, got.criterion.value, got.dprime.n) == (None, None, 2)
    assert stats.balanced_accuracy([1, 0], is_human, [0, 1], [0, 1]).value is None
    assert stats.detection_counts(0, 0, 3, 5).dprime.lack == "no_data"


@pytest.mark.parametrize(
    ("judge", "balanced", "dprime", "criterion"),
    [
        ("Gemini 2.5 pro", 0.6151, 0.5854, 0.0987),
        ("GPT-4o-Audio-Preview", 0.5518, 0.6891, -1.4243),
        ("Seallms-Audio", 0.4504, -0.4016, 0.9976),
        ("Voxtral Mini", 0.4810, -0.0954, -0.0828),
    ],
)
def test_published_judges(judge: str, balanced: float, dprime: float, criterion: float) -> None:
    if not VECTORS.exists():
        pytest.skip(f"the published vectors are not beside the project ({VECTORS.name})")
    cells = json.loads(VECTORS.read_text())["ai_judge_table2"][judge]
    (hh, hm, ph), (n_human, n_hm, n_ph) = cells["correct"], cells["n"]
    n_machine = n_hm + n_ph
    got = stats.detection_counts(hh, n_human, n_machine - hm - ph, n_machine)
    assert got.dprime.value == pytest.approx(dprime, abs=5e-5)
    assert got.criterion.value == pytest.approx(criterion, abs=5e-5)
    is_human = np.repeat([True, False], [n_human, n_machine])
    correct = np.concatenate([np.arange(n_human) < hh, np.arange(n_machine) < hm + ph]).astype(float)
    item = np.arange(n_human + n_machine)
    share = stats.balanced_accuracy(correct, is_human, item % 7, item)
    assert share.value == pytest.approx(balanced, abs=5e-5)
    judged_human = np.where(is_human, correct, 1 - correct)
    assert share.value == pytest.approx(balanced_accuracy_score(is_human, judged_human))


def test_always_machine_has_balanced_accuracy_of_a_half() -> None:
    is_human = np.repeat([True, False], [142, 288])
    item = np.arange(430)
    correct = (~is_human).astype(float)
    assert stats.balanced_accuracy(correct, is_human, item % 7, item).value == 0.5
    assert stats.proportion(correct, item % 7, item).value == pytest.approx(0.6698, abs=5e-5)


def test_balanced_accuracy_has_the_variance_of_the_two_halves(
    both: tuple[Verdicts, NDArray[np.bool_]],
) -> None:
    (y, participant, item), is_human = both
    correct = np.where(is_human, y, 1 - y)
    got = stats.balanced_accuracy(correct, is_human, participant, item)
    # (a_h + a_m)/2 = (1 + p_h − p_m)/2, so its SE is half that of the difference.
    assert got.value == pytest.approx((1 + 0.341667) / 2, abs=1e-6)
    assert got.se == pytest.approx(0.12775421 / 2, abs=1e-8)


def _z_and_influence(y: NDArray[Any], inside: NDArray[Any]) -> tuple[float, NDArray[Any]]:
    """z of the corrected rate and its influence values, written out again."""
    n, x = int(inside.sum()), float(y[inside].sum())
    z = float(sps.norm.ppf((x + 0.5) / (n + 1)))
    return z, np.where(inside, (y - x / n) / (n * sps.norm.pdf(z)), 0.0)


def _difference_data() -> tuple[NDArray[Any], ...]:
    draw = np.random.default_rng(11)
    person, item = (axis.ravel() for axis in np.meshgrid(np.arange(12), np.arange(15), indexing="ij"))
    arm = np.array([0] * 5 + [1] * 4 + [2] * 6)[item]  # humans, one machine, another
    y = (draw.random(person.size) < np.array([0.7, 0.5, 0.3])[arm]).astype(float)
    return y, arm, person, item


def test_difference_of_two_dprimes_cancels_the_humans_they_share() -> None:
    y, arm, person, item = _difference_data()
    humans = arm == 0
    got = stats.dprime_difference(y, arm == 1, arm == 2, person, item, humans=(humans, humans))

    (z_one, u_one), (z_two, u_two) = (_z_and_influence(y, arm == which) for which in (1, 2))
    machines = arm != 0
    spread = stats.twoway((u_two - u_one)[machines], person[machines], item[machines], arm[machines])
    assert got.value == pytest.approx(z_two - z_one)
    assert got.se == pytest.approx(spread.se)
    assert (got.n, got.df) == (int(machines.sum()), 3)
    each = [
        stats.detection(y[keep], humans[keep], person[keep], item[keep]).dprime.value or 0.0
        for keep in (humans | (arm == 1), humans | (arm == 2))
    ]
    assert got.value == pytest.approx(each[0] - each[1])
    assert got == stats.dprime_difference(y, arm == 1, arm == 2, person, item)


def test_difference_of_two_dprimes_with_humans_of_other_periods() -> None:
    y, arm, person, item = _difference_data()
    early, late = arm == 0, (arm == 0) & (person > 4)
    got = stats.dprime_difference(y, arm == 1, arm == 2, person, item, humans=(early, late))

    parts = [_z_and_influence(y, mask) for mask in (early, arm == 1, late, arm == 2)]
    signs = (1, -1, -1, 1)
    u = sum(sign * influence for sign, (_z, influence) in zip(signs, parts, strict=True))
    spread = stats.twoway(np.asarray(u), person, item)
    assert got.value == pytest.approx(sum(sign * z for sign, (z, _u) in zip(signs, parts, strict=True)))
    assert got.se == pytest.approx(spread.se)
    assert got.n == y.size


def test_difference_of_two_dprimes_needs_verdicts_on_both() -> None:
    y, arm, person, item = _difference_data()
    nobody = np.zeros(y.size, dtype=bool)
    assert stats.dprime_difference(y, arm == 1, nobody, person, item).lack == "no_data"
    with pytest.raises(ValueError, match="one machine"):
        stats.dprime_difference(y, arm == 1, arm >= 1, person, item)

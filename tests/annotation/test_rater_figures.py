"""Figures of raters by hand: others' mean without oneself, gold, repeats, speed; which rules then speak."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from annotation.models import AnnotationSettings, Annotator, ReferenceDialogue, ReferenceScore
from annotation.rater_figures import Item, LeftOut, Sheet, figures_of, others_of
from annotation.rater_flags import flags_of
from annotation.selectors_raters import categories_of, rows_of, seen_order, sheet_of, total_of
from annotation.services.settings import settings_of
from annotation.services.taxonomies import default_taxonomy
from tests import factories
from tests.factories import NOW

NAN = float("nan")


def item(pk: int, rater: int, dialogue: int, purpose: str = "work", **more: object) -> Item:
    values = {
        "pk": pk, "rater": rater, "dialogue": dialogue, "layer": "raw", "purpose": purpose, "repeat": 0,
        "analysed": True, "seconds": 200.0, "length": 60.0, "batch": 1, "at": NOW,
    } | more  # fmt: skip
    return Item(**values)  # type: ignore[arg-type]


def sheet(rows: list[tuple[Item, list[float]]], references: dict[int, list[float]] | None = None) -> Sheet:
    known = {key: np.array(row) for key, row in (references or {}).items()}
    return Sheet(tuple(one for one, _row in rows), np.array([row for _one, row in rows]), known)


def test_others_are_those_who_count_and_never_oneself() -> None:
    made = sheet(
        [
            (item(1, 1, 7), [1, 0, 5]),
            (item(2, 2, 7), [3, 2, NAN]),
            (item(3, 3, 7), [5, 4, 1]),
            (item(4, 4, 7, analysed=False), [5, 5, 5]),
            (item(5, 1, 7, "repeat", repeat=1), [2, 2, 2]),
            (item(6, 1, 8), [2, 2, 2]),
            (item(7, 5, 7, layer="blind-expert"), [4, 4, 4]),
        ]
    )
    expected = [
        [4, 3, 1], [3, 4, 3], [2, 2, 5], [3, 3, 3], [4, 3, 1], [NAN, NAN, NAN], [NAN, NAN, NAN],
    ]  # fmt: skip
    assert np.array_equal(others_of(made), np.array(expected, dtype=float), equal_nan=True)


def test_gold_repeats_and_speed_by_hand() -> None:
    rows: list[tuple[Item, list[float]]] = [
        (item(1, 1, 7, seconds=100), [1, 0, 5]),
        (item(2, 1, 8, "gold", seconds=80), [4, 0, 2]),
        (item(3, 1, 9, "gold", seconds=95, length=None), [1, 1, 1]),
        (item(4, 1, 7, "repeat", repeat=1, seconds=0), [2, 3, 5]),
    ]
    made = sheet(rows, {8: [5, 4, 3]})
    found = figures_of(made, 1, others_of(made), [0, 1, 2])
    assert found.dialogues == 1
    assert (found.gold.items, found.gold.difference.value, found.gold.difference.n) == (1, 1.0, 2)
    assert (found.gold.clear.value, found.gold.clear.n) == (0.5, 2)
    assert (found.repeats, found.retest.n, found.retest.exact) == (1, 2, 0.5)
    assert found.speed == (3, 95.0, 30.0)
    assert found.others.difference.value is None


def test_rules_speak_of_careless_work_and_are_silent_where_there_is_little() -> None:
    rng = np.random.default_rng(1)
    good = [(item(n, 1, n), [float(v) for v in rng.integers(1, 6, 18)]) for n in range(1, 9)]
    bad = [(item(100 + n, 2, n, seconds=70), [4.0] * 18) for n in range(1, 9)]
    made = sheet([*good, *bad])
    settings, others = AnnotationSettings(), others_of(made)
    keys = [one.key for one in flags_of(figures_of(made, 2, others, range(18)), settings)]
    assert keys == ["fast", "most_used", "flat", "run"]
    assert flags_of(figures_of(made, 1, others, range(18)), settings) == []
    few = sheet([*good[:4], *bad[:4]])
    assert flags_of(figures_of(few, 2, others_of(few), range(18)), settings) == []
    (fast,) = [one for one in flags_of(figures_of(made, 2, others, range(18)), settings) if one.key == "fast"]
    assert "10 s" in fast.words


def test_much_that_is_left_out_is_told() -> None:
    made = sheet([(item(1, 1, 1), [4.0] * 18)])
    said = {}
    for n, met in ((2, 5), (3, 15), (3, 16), (0, 0)):
        left = replace(made, left={1: LeftOut(n, met)})
        flags = flags_of(figures_of(left, 1, others_of(made), range(18)), AnnotationSettings())
        said[n, met] = [one.words for one in flags if one.key == "left_out"]
    assert said.pop((3, 15))[0].startswith("3 dialogues were left out")
    assert not any(said.values())


def test_drift_is_told_with_its_way() -> None:
    rng = np.random.default_rng(2)
    base = rng.integers(2, 4, size=(20, 18)).astype(float)
    moving = np.clip(base + np.linspace(-1, 2, 20).round()[:, None], 1, 5)
    rows = [(item(n, 1, n), list(moving[n])) for n in range(20)]
    rows += [(item(50 + n, 2, n), list(base[n])) for n in range(20)]
    made = sheet(rows)
    flags = {
        one.key: one.words
        for one in flags_of(figures_of(made, 1, others_of(made), range(18)), AnnotationSettings())
    }
    assert "moved by 3." in flags["drift"]


@pytest.mark.both
@pytest.mark.django_db
def test_rows_come_from_what_is_stored() -> None:
    study = factories.annotated_study(dialogues=3, raters=2)
    settings = settings_of(study)
    settings.rate_per_hour, study.pay_floor = 30, 31
    settings.study = study
    one = Annotator.objects.order_by("pk")[0]
    batch = one.batches.get()
    gold = factories.annotate(factories.BatchItemFactory(batch=batch, purpose="gold"), {"rhythm": None})
    reference = ReferenceDialogue.objects.create(
        study=study, dialogue=gold.dialogue, role="gold", source="import", added_at=NOW
    )
    for row in default_taxonomy().dimensions.all():
        ReferenceScore.objects.create(reference=reference, dimension=row, value=5)
    one.sessions.create(started_at=NOW, last_at=NOW, active_seconds=1800)
    one.batches.create(
        number=9, kind="work", state="finished", finished_at=NOW, started_at=NOW, lease_until=NOW
    )
    made = sheet_of(settings)
    assert made.answers.shape == (7, 18)
    assert (made.answers == 0).sum() == 1
    rows = rows_of(settings)
    first = rows[0]
    assert (first.pay.minutes, str(first.pay.amount), first.pay.dialogues) == (30, "15.00", 4)
    assert (first.batches, first.figures.dialogues) == (1, 3), "a batch without a finished dialogue is none"
    assert first.figures.gold.difference.value == 1
    assert first.figures.gold.clear.value == pytest.approx(17 / 18)
    total = total_of(settings, [row.pay for row in rows])
    assert (total.minutes, str(total.amount), total.below) == (30, "15.00", True)


@pytest.mark.both
@pytest.mark.django_db
def test_columns_follow_the_order_in_which_a_person_met_them() -> None:
    study = factories.annotated_study(dialogues=1, raters=1)
    one = Annotator.objects.get()
    one.category_order = ["emotion", "semantics", "persona", "physiological", "non-physiological"]
    order = seen_order(categories_of(settings_of(study)), one)
    assert order[:4] == [16, 17, 0, 1]
    assert sorted(order) == list(range(18))

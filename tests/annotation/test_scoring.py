"""Scores as they are stored: no evidence, first values, versions; nothing overwritten unseen or twice."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import BatchItem, Score
from dialogues.models import Exposure
from tests.annotation.annotating import KEYS, Rater, keys, work_study
from tests.clock import Clock

pytestmark = pytest.mark.django_db


@pytest.fixture
def item(rater: Rater) -> dict[str, Any]:
    """The first item, heard whole."""
    found = rater.item()
    rater.listen(found)
    return found


def one(key: str) -> Score:
    return Score.objects.get(dimension__key=key)


def test_a_score_is_stored_as_given(rater: Rater, item: dict[str, Any]) -> None:
    first = keys()[0]
    answer = rater.save(item, scores={first: {"value": 5, "version": 0}})
    assert answer.status_code == 200
    assert answer.json() == {
        "scores": {first: {"value": 5, "version": 1}}, "scored": 1, "complete": False, "break": False,
    }  # fmt: skip
    row = one(first)
    assert (row.value, row.evidence, row.version, row.changes) == (5, True, 1, 0)
    assert (row.first_value, row.first_evidence, row.layer, row.repeat) == (5, True, "raw", 0)
    assert row.item is not None
    assert row.item.code == item["code"]
    assert (row.rater, row.dialogue) == (row.item.rater, row.item.dialogue)
    assert (row.given_at, row.changed_at) == (rater.now, None)


def test_no_evidence_is_three_with_a_mark(rater: Rater, item: dict[str, Any]) -> None:
    first = keys()[0]
    rater.save(item, scores={first: {"value": 0, "version": 0}})
    row = one(first)
    assert (row.value, row.evidence, row.first_value, row.first_evidence) == (3, False, 3, False)
    assert rater.item()["scores"][first] == {"value": 0, "version": 1}
    rater.save(item, scores={first: {"value": 3, "version": 1}})
    row.refresh_from_db()
    assert (row.value, row.evidence, row.changes) == (3, True, 1), "three with evidence is another answer"
    assert (row.first_value, row.first_evidence) == (3, False)


def test_a_change_keeps_the_first_score_and_counts(rater: Rater, item: dict[str, Any], clock: Clock) -> None:
    first = keys()[0]
    for version, value in enumerate((1, 4, 2)):
        clock.pass_(5)
        said = rater.save(item, scores={first: {"value": value, "version": version}}).json()
        assert said["scores"][first] == {"value": value, "version": version + 1}
    row = one(first)
    assert (row.value, row.first_value, row.changes, row.version) == (2, 1, 2, 3)
    assert row.changed_at == rater.now


def test_the_same_again_changes_nothing_whatever_version_it_names(
    rater: Rater, item: dict[str, Any], clock: Clock
) -> None:
    first = keys()[0]
    rater.save(item, scores={first: {"value": 4, "version": 0}})
    before = one(first).given_at
    clock.pass_(5)
    for version in (0, 1, 7):
        answer = rater.save(item, scores={first: {"value": 4, "version": version}})
        assert answer.status_code == 200
        assert answer.json()["scores"][first] == {"value": 4, "version": 1}
    row = one(first)
    assert (row.version, row.changes, row.changed_at, row.given_at) == (1, 0, None, before)


def test_what_was_changed_elsewhere_is_told_and_stays_while_the_rest_is_stored(
    rater: Rater, item: dict[str, Any]
) -> None:
    first, second, *_ = keys()
    rater.save(item, scores={first: {"value": 4, "version": 0}})
    rater.save(item, scores={first: {"value": 5, "version": 1}})  # the other tab
    answer = rater.save(item, scores={first: {"value": 1, "version": 1}, second: {"value": 2, "version": 0}})
    assert answer.status_code == 409
    assert answer.json() == {
        "scores": {second: {"value": 2, "version": 1}},
        "scored": 2, "complete": False, "break": False,
        "conflicts": {first: {"value": 5, "version": 2}},
    }  # fmt: skip
    assert (one(first).value, one(second).value) == (5, 2)
    assert rater.save(item, scores={first: {"value": 1, "version": 2}}).status_code == 200
    assert one(first).value == 1


def test_a_first_score_from_two_tabs_is_a_conflict_too(rater: Rater, item: dict[str, Any]) -> None:
    first = keys()[0]
    rater.save(item, scores={first: {"value": 4, "version": 0}})
    answer = rater.save(item, scores={first: {"value": 2, "version": 0}})
    assert answer.status_code == 409
    assert answer.json()["conflicts"] == {first: {"value": 4, "version": 1}}


BAD: list[Any] = [6, -1, 2.5, "4", True, None, [], {}, 10**30]


@pytest.mark.parametrize("value", BAD, ids=repr)
def test_a_value_that_is_no_step_is_refused_at_its_field_and_the_rest_is_stored(
    rater: Rater, item: dict[str, Any], value: Any
) -> None:
    first, second, *_ = keys()
    answer = rater.save(
        item, scores={first: {"value": value, "version": 0}, second: {"value": 2, "version": 0}}
    )
    assert answer.status_code == 400
    body = answer.json()
    assert body["error"]["code"] == "bad_scores"
    assert set(body["error"]["fields"]) == {first}
    assert body["scores"] == {second: {"value": 2, "version": 1}}
    assert list(Score.objects.values_list("dimension__key", flat=True)) == [second]


@pytest.mark.parametrize("sent", [5, "5", None, [], {}, {"version": 1}], ids=repr)
def test_what_is_no_score_at_all_is_refused_at_its_field(
    rater: Rater, item: dict[str, Any], sent: Any
) -> None:
    answer = rater.save(item, scores={keys()[0]: sent})
    assert set(answer.json()["error"]["fields"]) == {keys()[0]}


def test_an_unknown_dimension_is_refused_and_the_rest_is_stored(rater: Rater, item: dict[str, Any]) -> None:
    first = keys()[0]
    answer = rater.save(item, scores={"charm": {"value": 2}, first: {"value": 2}})
    assert answer.status_code == 400
    assert set(answer.json()["error"]["fields"]) == {"charm"}
    assert one(first).value == 2


def test_a_version_of_any_shape_is_only_another_version(rater: Rater, item: dict[str, Any]) -> None:
    first = keys()[0]
    rater.score(item)
    for version in ("1", [1], {"a": 1}, 1.5, -3, 10**30, True, 1.0):
        answer = rater.save(item, scores={first: {"value": 2, "version": version}})
        assert answer.status_code == 409, version
        choice = {"value": "machine", "confidence": 1, "version": version}
        assert rater.save(item, choice=choice).status_code == 409, version
    assert one(first).value == 4
    assert BatchItem.objects.get(code=item["code"]).choice == "human"


# -- the gate


def test_nothing_is_scored_before_it_was_heard_whole(rater: Rater) -> None:
    item = rater.item()
    assert not item["unlocked"]
    for report in ({}, {"seconds": 20.0}):
        if report:
            rater.listen(item, **report)
        answer = rater.score(item)
        assert answer.status_code == 409
        assert answer.json()["error"]["code"] == "not_heard"
    assert not Score.objects.exists()
    assert rater.listen(item).json() == {"heard": 1.0, "unlocked": True, "unlock_in": None}
    assert rater.score(item).status_code == 200


def test_the_report_may_come_with_the_scores(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    clock.pass_(30)
    report = {"ranges": [[0, 30]], "plays": 1, "ended": True}
    assert rater.score(item, listening=report).status_code == 200
    row = BatchItem.objects.get(code=item["code"])
    assert (row.gate, row.heard, row.plays, row.whole_at) == ("ended", 1.0, 1, rater.now)
    assert row.exposure.heard_at is not None


def test_nobody_hears_faster_than_the_clock(rater: Rater, clock: Clock) -> None:
    """Not even twice as fast, as the game believes: speed changes what is scored."""
    item = rater.item()
    clock.pass_(20)
    answer = rater.post(f"item/{item['code']}/listening/", ranges=[[0, 30]], plays=1, ended=True)
    assert answer.json()["unlocked"] is False
    assert answer.json()["heard"] == pytest.approx(25 / 30, abs=0.01)
    clock.pass_(10)
    assert rater.post(f"item/{item['code']}/listening/", ended=True).json()["unlocked"]


def test_after_a_wait_scores_open_anyway_and_it_was_not_heard_whole(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    said = rater.post(f"item/{item['code']}/listening/", playing=True, plays=1).json()
    assert said == {"heard": 0.0, "unlocked": False, "unlock_in": 65.0}
    clock.pass_(66)
    assert rater.item()["unlock_in"] == 0.0
    assert rater.score(item).status_code == 200
    row = BatchItem.objects.get(code=item["code"])
    assert (row.gate, row.whole_at) == ("timeout", None)
    rater.listen(item)
    row.refresh_from_db()
    assert (row.gate, row.whole_at) == ("timeout", rater.now)
    rater.next(item)
    row.refresh_from_db()
    assert row.verdict is not None
    assert row.verdict.protocol_breaks == []


@pytest.mark.both
@pytest.mark.parametrize(
    ("report", "fetched", "breaks"),
    [
        ({"ended": True}, False, ["not_listened"]),
        ({"ended": True}, True, ["not_listened"]),
        ({"ended": True, "ranges": [[0, 30]]}, False, ["not_listened"]),
        ({"ended": True, "ranges": [[0, 1], [29, 30]]}, True, ["not_listened"]),
        ({"ended": True, "ranges": [[0, 30]]}, True, []),
    ],
)
def test_to_claim_the_end_is_not_to_have_heard(
    rater: Rater, clock: Clock, report: dict[str, Any], fetched: bool, breaks: list[str]
) -> None:
    item = rater.item()
    assert item["length"] == 30
    if fetched:
        Exposure.objects.update(first_byte_at=rater.now)
    clock.pass_(30)
    assert rater.post(f"item/{item['code']}/listening/", **report).json()["unlocked"]
    rater.score(item)
    rater.next(item)
    row = BatchItem.objects.get(code=item["code"])
    assert row.verdict is not None
    assert row.verdict.protocol_breaks == breaks


def test_slower_speeds_count_once_it_was_heard_whole(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    assert item["slowest"] == 0.75
    url = f"item/{item['code']}/listening/"
    rater.post(url, plays=1, playing=True, slow=9, slowest=0.75)
    row = BatchItem.objects.get(code=item["code"])
    assert (row.slow_seconds, row.slowest) == (0, 1.0)
    rater.listen(item)
    for slow, slowest in ((4, 0.9), (7, 0.2), (6, 3)):
        rater.post(url, slow=slow, slowest=slowest)
    row.refresh_from_db()
    assert (row.slow_seconds, row.slowest) == (7, 0.75)
    again = rater.item()
    assert (again["slow"], again["speed"]) == (7, 0.75)


def test_only_test_participants_of_a_study_that_allows_them_may_claim_to_have_heard() -> None:
    study = work_study()
    claims = Rater(study, is_test=True)
    item = claims.item()
    assert claims.listen(item).json()["unlocked"] is False
    study.test_participants = True
    study.save()
    assert claims.listen(item).json()["unlocked"] is True
    assert Rater(study).listen(Rater(study).item()).status_code == 404


# -- the choice


def test_the_choice_comes_after_all_scores(rater: Rater, item: dict[str, Any]) -> None:
    *most, last = keys()
    choice = {"value": "human", "confidence": 4, "version": 0}
    answer = rater.save(item, scores={key: {"value": 4} for key in most}, choice=choice)
    assert answer.status_code == 400
    body = answer.json()
    assert body["error"]["fields"] == {"choice": "Score everything first: 1 score is missing."}
    assert body["scored"] == KEYS - 1
    assert BatchItem.objects.get(code=item["code"]).choice == ""
    said = rater.save(item, scores={last: {"value": 4}}, choice=choice).json()
    assert said["choice"] == choice | {"version": 1}
    assert said["complete"]


def test_a_choice_changed_elsewhere_is_told_and_stays(rater: Rater, item: dict[str, Any]) -> None:
    rater.score(item, choice={"value": "human", "confidence": 4, "version": 0})
    same = rater.save(item, choice={"value": "human", "confidence": 4, "version": 0})
    assert same.status_code == 200
    other = rater.save(item, choice={"value": "machine", "confidence": 4, "version": 0})
    assert other.status_code == 409
    assert other.json()["conflicts"] == {"choice": {"value": "human", "confidence": 4, "version": 1}}
    assert rater.save(item, choice={"value": "machine", "confidence": 4, "version": 1}).status_code == 200
    row = BatchItem.objects.get(code=item["code"])
    assert (row.choice, row.first_choice, row.version) == ("machine", "human", 2)


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        ({"value": "unscored", "confidence": 3}, "choice"),
        ({"value": ["human"], "confidence": 3}, "choice"),
        ({"confidence": 3}, "choice"),
        ([], "choice"),
        (5, "choice"),
        ({"value": "human", "confidence": 0}, "confidence"),
        ({"value": "human", "confidence": 6}, "confidence"),
        ({"value": "human", "confidence": "3"}, "confidence"),
        ({"value": "human", "confidence": True}, "confidence"),
    ],
    ids=repr,
)
def test_a_choice_that_is_none_is_refused_at_its_field(
    rater: Rater, item: dict[str, Any], choice: Any, field: str
) -> None:
    answer = rater.score(item, choice=choice)
    assert answer.status_code == 400
    assert set(answer.json()["error"]["fields"]) == {field}
    assert answer.json()["scored"] == KEYS


def test_a_finished_item_takes_no_more(rater: Rater, item: dict[str, Any]) -> None:
    rater.score(item)
    rater.next(item)
    answer = rater.save(item, scores={keys()[0]: {"value": 1, "version": 1}})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "moved_on")
    assert rater.listen(item).status_code == 409
    assert one(keys()[0]).value == 4


def test_a_save_asks_for_few_rows(
    rater: Rater, item: dict[str, Any], django_assert_max_num_queries: Any
) -> None:
    first, second, *_ = keys()
    rater.save(item, scores={first: {"value": 4, "version": 0}})
    with django_assert_max_num_queries(10):  # two of them the savepoint of the test
        rater.save(item, scores={second: {"value": 4, "version": 0}}, active=5)

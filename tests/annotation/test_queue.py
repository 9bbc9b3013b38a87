"""What a rater is given: the least rated, never more than k, never what they know; gold and repeats."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation import balance
from annotation.models import AnnotationSettings, Batch, BatchItem, ReferenceDialogue
from annotation.services import queue
from annotation.services.items import locked_annotator
from dialogues.models import Dialogue, Exposure, Speaker, StudyItem, Verdict
from studies.assignment import seeded
from studies.models import Study
from tests import factories
from tests.annotation.annotating import Rater, keys, work_study
from tests.clock import Clock

pytestmark = pytest.mark.django_db


def drawn(rater: Rater) -> Batch | None:
    """The next batch of somebody who has none in hand."""
    settings = AnnotationSettings.objects.get(study=rater.participant.study)
    with transaction.atomic():
        annotator = locked_annotator(rater.participant, rater.now)
        return queue.draw_batch(annotator, settings, now=rater.now)


def dialogues_of(batch: Batch | None) -> set[int]:
    return set(batch.items.values_list("dialogue_id", flat=True)) if batch else set()


def raters_each(study: Study) -> Counter[int]:
    return Counter(
        BatchItem.objects.filter(study=study, place__isnull=False).values_list("dialogue", flat=True)
    )


# -- the balance, without rows


def test_the_least_rated_come_first_and_ties_by_chance() -> None:
    counts = {1: 2, 2: 1, 3: 1, 4: 0, 5: 3}
    chosen = [balance.least_rated(counts, most=3, rng=Random(seed)) for seed in range(50)]
    assert {one.dialogue for one in chosen if one} == {4}
    del counts[4]
    chosen = [balance.least_rated(counts, most=3, rng=Random(seed)) for seed in range(50)]
    assert Counter(one.dialogue for one in chosen if one).keys() == {2, 3}
    assert chosen[0] is not None
    assert chosen[0].record == {"candidates": 3, "fewest": 1, "ties": 2, "chosen": chosen[0].dialogue}


def test_full_dialogues_are_not_given() -> None:
    assert balance.least_rated({1: 3, 2: 4}, most=3, rng=Random(1)) is None
    assert balance.least_rated({}, most=3, rng=Random(1)) is None


def test_purposes_have_their_shares_and_the_same_seed_gives_the_same() -> None:
    plan = balance.purposes(20_000, gold=0.05, repeat=0.1, rng=Random(7))
    counts = Counter(plan)
    assert counts["gold"] == pytest.approx(1000, rel=0.1)
    assert counts["repeat"] == pytest.approx(2000, rel=0.1)
    assert plan == balance.purposes(20_000, gold=0.05, repeat=0.1, rng=Random(7))
    assert set(balance.purposes(50, gold=0.0, repeat=0.0, rng=Random(7))) == {"work"}


# -- batches


def test_twelve_dialogues_of_three_raters_are_spread_evenly_and_run_out(study: Study, clock: Clock) -> None:
    for number in range(9):
        rater = Rater(study, clock)
        sizes = []
        while batch := drawn(rater):
            sizes.append(batch.items.count())
            assert max(raters_each(study).values()) - min_of(study) <= 1
            finish(batch)
        assert sizes == ([5, 5, 2] if number < 3 else [])
    assert set(raters_each(study).values()) == {3}
    assert Counter(BatchItem.objects.values_list("place", flat=True)) == {1: 12, 2: 12, 3: 12}


def min_of(study: Study) -> int:
    found = raters_each(study)
    return min(found.get(pk, 0) for pk in study.items.values_list("dialogue_id", flat=True))


def finish(batch: Batch) -> None:
    batch.state, batch.finished_at, batch.seen_at = Batch.State.FINISHED, factories.NOW, factories.NOW
    batch.save()
    batch.items.update(state="finished", choice="human", confidence=3, finished_at=factories.NOW)


def test_a_draw_can_be_repeated_from_its_record(study: Study, clock: Clock) -> None:
    rater = Rater(study, clock)
    batch = drawn(rater)
    assert batch is not None
    records = list(batch.items.order_by("position").values_list("draw", flat=True))
    assert [record["counter"] for record in records] == [0, 1, 2, 3, 4]
    assert {record["key"] for record in records} == {rater.participant.code}
    assert all(record["build"] for record in records)
    again = balance.least_rated(
        dict.fromkeys(study.items.values_list("dialogue_id", flat=True), 0),
        most=3,
        rng=seeded(records[0]["seed"], "annotation", records[0]["key"], 0),
    )
    assert again is not None
    assert again.record == {name: records[0][name] for name in ("candidates", "fewest", "ties", "chosen")}


@pytest.mark.parametrize(
    "change",
    [
        lambda one: StudyItem.objects.filter(dialogue=one).update(is_active=False),
        lambda one: StudyItem.objects.filter(dialogue=one).update(role="attention"),
        lambda one: Dialogue.objects.filter(pk=one.pk).update(state="waiting"),
        lambda one: Dialogue.objects.filter(pk=one.pk).update(language="zh"),
        lambda one: Speaker.objects.filter(parties__dialogue=one).update(may_play=False),
        lambda one: Speaker.objects.filter(parties__dialogue=one).update(withdrawn_at=factories.NOW),
        lambda one: factories_reference(one),
    ],
    ids=["out of play", "attention", "not ready", "other language", "not played", "withdrawn", "reference"],
)
def test_what_may_not_be_given_is_not(clock: Clock, change: Any) -> None:
    study = work_study(dialogues=2)
    kept_out, given = Dialogue.objects.order_by("pk")
    change(kept_out)
    assert dialogues_of(drawn(Rater(study, clock))) == {given.pk}


def factories_reference(dialogue: Dialogue) -> None:
    ReferenceDialogue.objects.create(
        study=Study.objects.get(), dialogue=dialogue, role="gold", source="import", added_at=factories.NOW
    )


def test_a_reference_that_is_no_longer_active_is_ordinary_work_again(clock: Clock) -> None:
    study = work_study(dialogues=1)
    factories_reference(Dialogue.objects.get())
    assert drawn(Rater(study, clock)) is None
    ReferenceDialogue.objects.update(is_active=False)
    assert drawn(Rater(study, clock)) is not None


def test_nobody_scores_what_they_heard_in_the_game(study: Study, clock: Clock) -> None:
    rater = Rater(study, clock)
    heard = Dialogue.objects.order_by("pk")[:10]
    for dialogue in heard:
        factories.ExposureFactory(rater=rater.participant.rater, dialogue=dialogue)
    batch = drawn(rater)
    assert batch is not None
    assert batch.items.count() == 2
    assert not dialogues_of(batch) & {dialogue.pk for dialogue in heard}


def test_nor_what_their_login_met_in_another_study_or_reviewed(study: Study, clock: Clock) -> None:
    user = factories.UserFactory()
    rater = Rater(study, clock, user=user)
    elsewhere, reviewed, of_user = Dialogue.objects.order_by("pk")[:3]
    factories.ExposureFactory(rater=factories.ParticipantFactory(user=user).rater, dialogue=elsewhere)
    score = factories.ScoreFactory(rater=factories.ParticipantFactory(study=study).rater, dialogue=reviewed)
    case = score.study.review_cases.create(dialogue=reviewed, made_at=factories.NOW)
    case.decisions.create(score=score, reviewer=user, decision="approve", value=4, given_at=factories.NOW)
    Exposure.objects.create(
        study=study, rater=factories.RaterFactory(participant=None, user=user), dialogue=of_user,
        given_at=factories.NOW,
    )  # fmt: skip
    met = {elsewhere.pk, reviewed.pk, of_user.pk}
    given: set[int] = set()
    while batch := drawn(rater):
        given |= dialogues_of(batch)
        finish(batch)
    assert given == set(Dialogue.objects.values_list("pk", flat=True)) - met
    assert dialogues_of(drawn(Rater(study, clock))), "others are given them all the same"


def test_each_layer_has_places_of_its_own(clock: Clock) -> None:
    study = work_study(dialogues=2, raters=1, expert_raters=2)
    experts = [Rater(study, clock) for _ in range(3)]
    for one in experts:
        one.annotator.layer = "blind-expert"
        one.annotator.save()
    assert len(dialogues_of(drawn(Rater(study, clock)))) == 2
    assert drawn(Rater(study, clock)) is None
    assert [len(dialogues_of(drawn(one))) for one in experts] == [2, 2, 0]


@pytest.mark.parametrize("sort", ["is_pilot", "is_test"])
def test_pilots_and_tests_work_by_the_rules_and_keep_nobodys_place(clock: Clock, sort: str) -> None:
    study = work_study(dialogues=2, raters=1)
    assert len(dialogues_of(drawn(Rater(study, clock, **{sort: True})))) == 2
    assert drawn(Rater(study, clock, **{sort: True})) is None
    assert len(dialogues_of(drawn(Rater(study, clock)))) == 2
    assert drawn(Rater(study, clock)) is None


def test_fewer_raters_than_before_gives_no_dialogue_more_than_it_has(clock: Clock) -> None:
    study = work_study(dialogues=1, raters=3)
    first, second = Rater(study, clock), Rater(study, clock)
    assert drawn(first)
    assert drawn(second)
    BatchItem.objects.filter(place=1).update(place=3)  # the first place was freed, the third taken
    AnnotationSettings.objects.update(raters=2)
    assert drawn(Rater(study, clock)) is None


@pytest.mark.both
def test_the_database_refuses_a_place_twice(clock: Clock) -> None:
    study = work_study(dialogues=1)
    batch = drawn(Rater(study, clock))
    assert batch is not None
    taken = batch.items.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.BatchItemFactory(
            batch__annotator__participant__study=study, dialogue=taken.dialogue, place=taken.place
        )


# -- known scores and repeats


def test_gold_items_come_at_their_share_once_each_and_hold_no_place(clock: Clock) -> None:
    study = work_study(dialogues=40, gold_share=0.4)
    for dialogue in Dialogue.objects.order_by("pk")[:6]:
        factories_reference(dialogue)
    golds = set(ReferenceDialogue.objects.values_list("dialogue", flat=True))
    rater = Rater(study, clock)
    sizes = []
    while batch := drawn(rater):
        sizes.append(batch.items.count())
        finish(batch)
    items = BatchItem.objects.filter(purpose="gold")
    assert {item.dialogue_id for item in items} == golds
    assert items.count() == 6
    assert all(item.place is None and item.repeat == 0 for item in items)
    assert sum(sizes) == 40
    assert len({item.position for item in items}) > 1, "not always in the same place"
    assert BatchItem.objects.filter(purpose="work", dialogue__in=golds).count() == 0


def test_without_work_no_batch_of_known_scores_alone_is_given(clock: Clock) -> None:
    study = work_study(dialogues=1, gold_share=0.5)
    factories_reference(Dialogue.objects.get())
    assert drawn(Rater(study, clock)) is None


def repeating(clock: Clock, **settings: Any) -> Rater:
    """Somebody who has finished two batches of five just now."""
    study = work_study(dialogues=60, repeat_share=0.5, repeat_after_batches=2, **settings)
    rater = Rater(study, clock)
    for _ in range(2):
        rater.batch()
        rater.get("batch/1/")
        rater.get("batch/2/")
    return rater


def test_repeats_come_after_so_many_batches_and_hours(clock: Clock) -> None:
    rater = repeating(clock)
    first = drawn(rater)
    assert first is not None
    assert not first.items.filter(purpose="repeat").exists(), "no day has passed"
    finish(first)
    clock.pass_(24 * 3600)
    repeats: list[BatchItem] = []
    while (batch := drawn(rater)) and batch.number < 9:
        repeats += batch.items.filter(purpose="repeat")
        finish(batch)
    assert repeats
    own = BatchItem.objects.filter(purpose="work", state="finished")
    for item in repeats:
        before = own.get(dialogue=item.dialogue)
        assert (item.repeat, item.place) == (1, None)
        assert item.exposure == before.exposure
    assert len({item.dialogue_id for item in repeats}) == len(repeats), "each once"


def test_nothing_of_the_first_time_tells_that_a_dialogue_is_a_repeat(clock: Clock) -> None:
    rater = repeating(clock)
    Exposure.objects.update(first_byte_at=rater.now)  # all of it was heard
    clock.pass_(25 * 3600)
    before = dict(Exposure.objects.values_list("pk", "token"))
    while (batch := drawn(rater)) and not batch.items.filter(purpose="repeat").exists():
        finish(batch)
    assert batch is not None
    codes = [rater.item()["code"]]
    for item in batch.items.order_by("position"):
        assert item.exposure.token != before.get(item.exposure_id)
        assert rater.item()["unlock_in"] is None
        rater.form(f"item/{item.code}/save/", **{f"score-{keys()[0]}": "4"})  # a page without scripts
        assert rater.item()["unlock_in"] is None, f"{item.purpose}: nothing was fetched yet"
        codes.append(item.code)
        rater.post(f"item/{item.code}/known/")
    assert batch.items.filter(code__in=codes, purpose="repeat").exists()


def test_no_repeat_before_enough_batches(clock: Clock) -> None:
    rater = repeating(clock, batch_size=4)
    AnnotationSettings.objects.update(repeat_after_batches=3)
    clock.pass_(48 * 3600)
    batch = drawn(rater)
    assert batch is not None
    assert not batch.items.filter(purpose="repeat").exists()


def test_a_repeat_has_another_address_and_stands_beside_the_first_scores(clock: Clock) -> None:
    rater = repeating(clock, batch_size=5)
    tokens = set(Exposure.objects.values_list("token", flat=True))
    clock.pass_(25 * 3600)
    while not BatchItem.objects.filter(purpose="repeat", state="finished").exists():
        rater.batch()
        rater.get(f"batch/{Batch.objects.order_by('-number')[0].number}/")
    item = BatchItem.objects.filter(purpose="repeat", state="finished")[0]
    assert item.exposure.token not in tokens
    first = BatchItem.objects.get(dialogue=item.dialogue, purpose="work")
    assert item.scores.count() == first.scores.count() == 18
    assert Verdict.objects.filter(dialogue=item.dialogue).count() == 1, (
        "the verdict is that of the first time"
    )
    assert first.finished_at is not None
    assert item.finished_at is not None
    assert item.finished_at - first.finished_at >= timedelta(hours=24)

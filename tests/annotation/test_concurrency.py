"""Many raters and many tabs at the same moment: threads on real connections, no place and no score twice."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Annotator, Batch, BatchItem, Score, WorkSession
from annotation.services import batches, leases, scoring
from annotation.services.listening import Listening
from annotation.services.references import add_reference_scores
from dialogues.models import Dialogue, Verdict
from studies import services as studies
from studies.models import Study
from tests.annotation.annotating import KEYS, Rater, keys, work_study
from tests.speech.test_concurrency import at_once, fresh
from turingsite.errors import Conflict

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]

THREADS = 20
HEARD = Listening(ranges=((0.0, 30.0),), plays=1, ended=True)


def claiming(study: Study) -> Rater:
    """Somebody who may claim to have heard, so that no clock is needed."""
    Study.objects.filter(pk=study.pk).update(test_participants=True)
    return Rater(Study.objects.get(pk=study.pk), is_test=True)


def start(rater: Rater) -> batches.Place:
    return batches.start_or_resume(participant=fresh(rater.participant), now=timezone.now())


@pytest.mark.parametrize("raters", [1, 3])
def test_twenty_raters_at_once_never_take_a_place_too_many(transactional_db: None, raters: int) -> None:
    study = work_study(dialogues=6, raters=raters, batch_size=4)
    people = [Rater(study) for _ in range(THREADS)]
    places = at_once(lambda number: start(people[number]).name)
    assert set(places) == {"batch", "nothing"}
    held = Counter(BatchItem.objects.filter(place__isnull=False).values_list("dialogue", flat=True))
    assert sum(held.values()) == 6 * raters, "every place was taken"
    assert set(held.values()) == {raters}
    assert set(BatchItem.objects.values_list("place", flat=True)) == set(range(1, raters + 1))


def test_last_places_are_taken_once_while_leases_run_out_and_batches_are_taken_back(
    transactional_db: None,
) -> None:
    study = work_study(dialogues=4, raters=2, batch_size=2)
    people = [Rater(study) for _ in range(12)]
    for one in people[:4]:
        start(one)
    Batch.objects.update(lease_until=timezone.now())

    def either(number: int) -> str:
        who = fresh(people[number].participant)
        if number < 4:
            return batches.take_up(participant=who, now=timezone.now()).name
        if number == 11:
            return str(leases.sweep(now=timezone.now()))
        return batches.start_or_resume(participant=who, now=timezone.now()).name

    said = at_once(either, 12)
    assert not [one for one in said if not isinstance(one, str)], said
    held = Counter(BatchItem.objects.filter(place__isnull=False).values_list("dialogue", flat=True))
    assert max(held.values()) <= 2


def test_first_visit_from_twenty_threads_makes_one_batch(transactional_db: None) -> None:
    rater = Rater(work_study())
    codes = {place.item.code for place in at_once(lambda number: start(rater)) if place.item}
    assert len(codes) == 1
    assert (Annotator.objects.count(), Batch.objects.count(), BatchItem.objects.count()) == (1, 1, 5)
    assert WorkSession.objects.count() == 1


def test_the_same_save_from_twenty_threads_is_one_row(transactional_db: None) -> None:
    rater = claiming(work_study())
    code, first = rater.item()["code"], keys()[0]

    def save(number: int) -> Any:
        return scoring.save(
            participant=fresh(rater.participant),
            code=code,
            now=timezone.now(),
            scores={first: {"value": 4, "version": 0}},
            report=HEARD,
        ).scores

    assert at_once(save) == [{first: {"value": 4, "version": 1}}] * THREADS
    assert Score.objects.get().changes == 0


def test_two_tabs_that_say_different_things_leave_one_of_them_and_tell_the_other(
    transactional_db: None,
) -> None:
    rater = claiming(work_study())
    code, first = rater.item()["code"], keys()[0]

    def save(number: int) -> scoring.Saved:
        return scoring.save(
            participant=fresh(rater.participant),
            code=code,
            now=timezone.now(),
            scores={first: {"value": 1 + number % 5, "version": 0}},
            report=HEARD,
        )

    said = at_once(save, 10)
    row = Score.objects.get()
    assert (row.version, row.changes) == (1, 0)
    for number, saved in enumerate(said):
        if 1 + number % 5 == row.value:
            assert saved.scores == {first: {"value": row.value, "version": 1}}
        else:
            assert saved.conflicts == {first: {"value": row.value, "version": 1}}


def test_every_dimension_saved_at_the_same_moment_is_there(transactional_db: None) -> None:
    rater = claiming(work_study())
    code, dimensions = rater.item()["code"], keys()

    def save(number: int) -> int:
        saved = scoring.save(
            participant=fresh(rater.participant),
            code=code,
            now=timezone.now(),
            scores={dimensions[number]: {"value": 1 + number % 5, "version": 0}},
            report=HEARD,
        )
        return saved.scored

    assert sorted(at_once(save, KEYS)) == list(range(1, KEYS + 1))
    assert Score.objects.count() == KEYS


def test_next_from_eight_tabs_finishes_once(transactional_db: None) -> None:
    rater = claiming(work_study())
    item = rater.item()
    rater.listen(item)
    rater.score(item)

    def go_on(number: int) -> str:
        place = batches.finish_item(
            participant=fresh(rater.participant), code=item["code"], now=timezone.now()
        )
        assert place.item is not None
        return place.item.code

    assert len(set(at_once(go_on, 8))) == 1
    assert Verdict.objects.count() == 1
    assert BatchItem.objects.filter(state="finished").count() == 1


def test_known_from_eight_tabs_brings_one_other_dialogue(transactional_db: None) -> None:
    rater = Rater(work_study())
    code = rater.item()["code"]

    def skip(number: int) -> str:
        return batches.skip_known(participant=fresh(rater.participant), code=code, now=timezone.now()).name

    assert at_once(skip, 8) == ["batch"] * 8
    assert BatchItem.objects.count() == 6


@pytest.mark.parametrize("repeat", range(3))
@pytest.mark.parametrize("erase", [True, False])
def test_whoever_withdraws_in_the_middle_of_everything_leaves_and_nothing_breaks(
    transactional_db: None, erase: bool, repeat: int
) -> None:
    rater = claiming(work_study())
    asked: dict[str, Any] = {"code": rater.item()["code"], "now": timezone.now()}
    scores = {key: {"value": 4, "version": 0} for key in keys()}
    calls: list[Callable[..., Any]] = [
        lambda who: studies.withdraw(participant=who, erase_answers=erase),
        lambda who: scoring.save(participant=who, scores=scores, report=HEARD, **asked),
        lambda who: batches.finish_item(participant=who, **asked),
        lambda who: batches.skip_known(participant=who, **asked),
        lambda who: batches.start_or_resume(participant=who, now=timezone.now()),
        lambda who: leases.sweep(now=timezone.now()),
    ]
    said = at_once(lambda number: calls[number](fresh(rater.participant)), len(calls))
    unexpected = [one for one in said if isinstance(one, Exception) and not hasattr(one, "code")]
    assert unexpected == []
    rater.participant.refresh_from_db()
    assert rater.participant.withdrawn_at is not None
    assert not BatchItem.objects.filter(state="open").exists()
    if erase:
        assert not Score.objects.exists()
        assert not Annotator.objects.exists()


def test_no_dialogue_becomes_a_reference_while_it_is_being_given(transactional_db: None) -> None:
    rater = Rater(work_study(dialogues=5))
    study, given = rater.participant.study, threading.Event()

    def draw() -> None:
        with transaction.atomic():
            start(rater)
            given.set()
            time.sleep(0.3)  # what it gave is not yet to be seen
        connection.close()

    def make() -> str:
        given.wait()
        dialogue = Dialogue.objects.filter(study_items__study=study).order_by("pk")[0]
        try:
            add_reference_scores(
                study=study, dialogue=dialogue, role="gold", source="review", scores={"rhythm": 2}
            )
        except Conflict as error:
            return error.code
        finally:
            connection.close()
        return "made"

    with ThreadPoolExecutor(2) as pool:
        drawn, made = pool.submit(draw), pool.submit(make)
        drawn.result()
        assert made.result() == "being_annotated"

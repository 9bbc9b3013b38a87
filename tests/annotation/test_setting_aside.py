"""Scores set aside: left out, their places free for others; taken back where the places still are."""

from __future__ import annotations

from datetime import timedelta

import pytest

from annotation.models import AnnotationSettings, Annotator, Batch, BatchItem, Score
from annotation.services.pausing import pause, resume
from annotation.services.quality import another_try, set_aside, take_back
from annotation.services.settings import settings_of
from annotation.services.verdicts import finish
from dialogues.models import Verdict
from studies.models import AuditLine, Study
from studies.services import screen_out, withdraw
from tests import factories
from tests.factories import NOW
from turingsite.errors import Conflict, Gone, Invalid

pytestmark = [pytest.mark.django_db, pytest.mark.both]


@pytest.fixture
def study(db: None) -> Study:
    return factories.annotated_study(dialogues=3, raters=2)


@pytest.fixture
def rater(study: Study) -> Annotator:
    return Annotator.objects.filter(participant__study=study).order_by("pk")[0]


def held(study: Study) -> dict[int, list[int]]:
    rows = BatchItem.objects.filter(study=study, place__isnull=False).order_by("place")
    found: dict[int, list[int]] = {}
    for dialogue, place in rows.values_list("dialogue", "place"):
        found.setdefault(dialogue, []).append(place or 0)
    return found


def test_set_aside_leaves_scores_out_and_frees_their_places(study: Study, rater: Annotator) -> None:
    before = Score.objects.count()
    for item in BatchItem.objects.filter(batch__annotator=rater):
        item.verdict = factories.VerdictFactory(
            rater=item.rater, study=study, dialogue=item.dialogue, activity="annotation"
        )
        item.save()
    done = set_aside(annotator=rater, reason="Straight-lined.", now=NOW)
    assert (done.items, done.places) == (3, 3)
    theirs = BatchItem.objects.filter(batch__annotator=rater)
    assert set(theirs.values_list("exclusion", "place", "state")) == {("rater", None, "finished")}
    assert Score.objects.count() == before
    assert all(places == [2] for places in held(study).values())
    choices = Verdict.objects.filter(rater=rater.participant.rater)
    assert set(choices.values_list("exclusion", flat=True)) == {"rater"}
    line = AuditLine.objects.get(action="annotator.set_aside")
    assert (line.target, line.detail) == (rater.participant.code, {"items": 3, "places": 3})
    with pytest.raises(Conflict):
        set_aside(annotator=rater, reason="Again.")
    with pytest.raises(Conflict):
        resume(annotator=rater)
    take_back(annotator=rater)
    assert set(choices.values_list("exclusion", flat=True)) == {""}


def test_taken_back_only_where_the_place_is_still_free(study: Study, rater: Annotator) -> None:
    mine = list(BatchItem.objects.filter(batch__annotator=rater).order_by("pk"))
    verdict = factories.VerdictFactory(
        rater=mine[0].rater, study=study, dialogue=mine[0].dialogue, activity="annotation"
    )
    BatchItem.objects.filter(pk=mine[0].pk).update(verdict=verdict)
    set_aside(annotator=rater, reason="Straight-lined.", now=NOW)
    person = factories.ParticipantFactory(study=study)
    batch = factories.BatchFactory(annotator=factories.AnnotatorFactory(participant=person))
    filled = mine[0].dialogue
    factories.annotate(factories.BatchItemFactory(batch=batch, dialogue=filled, place=1))
    done = take_back(annotator=rater)
    assert (done.items, done.given_away) == (2, 1)
    assert all(places == [1, 2] for places in held(study).values())
    first = BatchItem.objects.get(pk=mine[0].pk)
    assert (first.exclusion, first.place) == ("given_away", None)
    verdict.refresh_from_db()
    assert verdict.exclusion == "given_away"
    rater.refresh_from_db()
    assert rater.set_aside_at is None
    assert rater.paused_at is not None
    with pytest.raises(Conflict):
        take_back(annotator=rater)


def test_taken_back_only_where_fewer_raters_are_wanted_than_others_hold(
    study: Study, rater: Annotator
) -> None:
    set_aside(annotator=rater, reason="Straight-lined.", now=NOW)
    AnnotationSettings.objects.filter(study=study).update(raters=1)
    done = take_back(annotator=rater)
    assert (done.items, done.given_away) == (0, 3), "the other one holds the second place"
    assert all(places == [2] for places in held(study).values())


def test_gold_and_other_exclusions_keep_what_they_are(study: Study, rater: Annotator) -> None:
    batch = rater.batches.get()
    gold = factories.annotate(factories.BatchItemFactory(batch=batch, purpose="gold"))
    pilot = factories.annotate(factories.BatchItemFactory(batch=batch, exclusion="pilot", place=1))
    assert set_aside(annotator=rater, reason="Straight-lined.").items == 4
    pilot.refresh_from_db()
    assert (pilot.exclusion, pilot.place) == ("pilot", 1)
    take_back(annotator=rater)
    gold.refresh_from_db()
    assert (gold.exclusion, gold.place) == ("", None)


def test_what_is_finished_at_the_same_moment_is_left_out_as_well(study: Study, rater: Annotator) -> None:
    """A request that had read the annotator before the decision finishes after it."""
    item = factories.annotate(factories.BatchItemFactory(batch=rater.batches.get()))
    BatchItem.objects.filter(pk=item.pk).update(state="open", finished_at=None)
    set_aside(annotator=rater, reason="Straight-lined.")
    item.refresh_from_db()
    finish(item, rater.participant, settings_of(study), now=NOW)
    item.refresh_from_db()
    assert (item.state, item.exclusion, item.place) == ("finished", "rater", None)
    assert item.verdict is not None
    assert item.verdict.exclusion == "rater"


def test_an_open_batch_goes_back_with_the_next_sweep(study: Study, rater: Annotator) -> None:
    other = factories.BatchFactory(annotator=rater, lease_until=NOW + timedelta(hours=3))
    set_aside(annotator=rater, reason="Straight-lined.", now=NOW)
    assert Batch.objects.get(pk=other.pk).lease_until == NOW


def test_a_reason_is_needed_and_kept(study: Study, rater: Annotator) -> None:
    for reason in ("", "  \n ", "x" * 301):
        with pytest.raises(Invalid) as told:
            set_aside(annotator=rater, reason=reason)
        assert "reason" in told.value.fields
        with pytest.raises(Invalid):
            pause(annotator=rater, reason=reason)
    pause(annotator=rater, reason="Please  write to us\nfirst.")
    rater.refresh_from_db()
    assert rater.paused_reason == "Please write to us first."
    assert "write" not in str(AuditLine.objects.get(action="annotator.paused").detail)
    resume(annotator=rater)
    rater.refresh_from_db()
    assert (rater.paused_at, rater.paused_reason) == (None, "")


def test_only_somebody_who_did_not_pass_gets_another_try(rater: Annotator) -> None:
    with pytest.raises(Conflict):
        another_try(annotator=rater)
    person = rater.participant
    Annotator.objects.filter(pk=rater.pk).update(state="failed")
    screen_out(participant=person, end_state="failed_check", now=NOW)
    assert another_try(annotator=rater).state == "calibrating"
    person.refresh_from_db()
    assert (person.end_state, person.completed_at, person.state) == ("", None, "active")
    Annotator.objects.filter(pk=rater.pk).update(state="failed")
    withdraw(participant=person, erase_answers=False, now=NOW)
    with pytest.raises(Gone):
        another_try(annotator=rater)

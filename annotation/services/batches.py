"""Where an annotator is, and on to the next dialogue: batches taken up, finished, returned, taken back.

The server owns the position: back, reload and a second tab all land there.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from annotation.models import AnnotationSettings, Annotator, Batch, BatchItem
from annotation.services import queue, sessions
from annotation.services.calibration import calibration_batch, conclude
from annotation.services.guidelines import has_confirmed
from annotation.services.items import (
    HEAVY,
    access_item,
    close_address,
    locked_annotator,
    moved_on,
    settings_for,
)
from annotation.services.leases import renew, take_back
from annotation.services.skipping import fails_often, refuse_more
from annotation.services.verdicts import finish
from studies.assignment import lease_end
from studies.characters import cleaned
from studies.models import Participant, Study
from studies.services.holding import refuse_if_over

State = BatchItem.State
UNSAID = "unsaid"


class Place(NamedTuple):
    """Where a person is: ``guidelines``, ``calibration`` (to be begun), ``failed`` (not passed), ``batch``,
    ``returned`` (its time ran out), ``done`` (a batch to look back on), ``over`` (all batches done),
    ``nothing`` (none left for now); or why they wait: ``paused`` (the study), ``set_aside`` (this person),
    ``sound`` (it fails too often).
    """

    name: str
    annotator: Annotator
    settings: AnnotationSettings
    batch: Batch | None = None
    item: BatchItem | None = None
    following: BatchItem | None = None
    rest: bool = False  # a break is offered

    @property
    def reason(self) -> str:
        """Why the person waits, "" where they do not."""
        return self.name if self.name in WAITING else ""


WAITING = ("paused", "set_aside", "sound", "nothing", "over")


@transaction.atomic
def start_or_resume(*, participant: Participant, now: datetime, seconds: float | None = None) -> Place:
    """Where the person is; whatever has to exist for that (annotator, batch, items) is made."""
    refuse_if_over(participant)
    settings = settings_for(participant)
    return place_of(locked_annotator(participant, now), settings, now=now, seconds=seconds)


def place_of(
    annotator: Annotator, settings: AnnotationSettings, *, now: datetime, seconds: float | None = None
) -> Place:
    """The place of an annotator whose row is held."""
    batch = annotator.batches.exclude(state=Batch.State.FINISHED).first()
    if annotator.paused_at is not None:
        return Place("set_aside", annotator, settings, batch=batch)
    if batch is not None:
        batch.annotator = annotator
        return _in_batch(batch, settings, now=now, seconds=seconds)
    last = annotator.batches.order_by("-number").first()
    if last is not None and last.seen_at is None:
        return Place("done", annotator, settings, batch=last)
    return _between(annotator, settings, now=now)


def _in_batch(
    batch: Batch, settings: AnnotationSettings, *, now: datetime, seconds: float | None = None
) -> Place:
    annotator = batch.annotator
    if batch.state == Batch.State.OPEN and batch.lease_until <= now:
        take_back(batch)
    if batch.state == Batch.State.RETURNED:
        return Place("returned", annotator, settings, batch=batch)
    items = _open_items(batch)
    if not items:
        return _finish(batch, settings, now=now)
    current = items[0]
    if current.opened_at is None:
        current.opened_at = now
        current.save(update_fields=["opened_at"])
    touched = sessions.touch(annotator, sessions.open_session(annotator), settings, now, seconds)
    renew(batch, settings, now=now)
    following = items[1] if len(items) > 1 else None
    return Place(
        "batch", annotator, settings, batch=batch, item=current, following=following, rest=touched.rest
    )


def _open_items(batch: Batch) -> list[BatchItem]:
    items = batch.items.filter(state=State.OPEN).select_related("dialogue", "exposure").defer(*HEAVY)
    found = list(items.order_by("position")[:2])
    for item in found:
        item.batch = batch
    return found


def _between(annotator: Annotator, settings: AnnotationSettings, *, now: datetime) -> Place:
    """Nothing is in hand: guidelines, calibration, or a new batch of work."""
    if annotator.state == Annotator.State.FAILED:
        return Place("failed", annotator, settings)
    if annotator.state == Annotator.State.READING or _has_other_words(annotator, settings):
        return Place("guidelines", annotator, settings)
    if annotator.state == Annotator.State.CALIBRATING and not settings.calibration:
        annotator.state = Annotator.State.WORKING
        annotator.save(update_fields=["state"])
    calibrates = annotator.state == Annotator.State.CALIBRATING
    if not calibrates and is_over(annotator, settings):
        return Place("over", annotator, settings)
    if annotator.participant.study.status == Study.Status.PAUSED:
        return Place("paused", annotator, settings)
    if calibrates:
        return _calibrating(annotator, settings, now=now)
    if fails_often(annotator, now):
        return Place("sound", annotator, settings)
    batch = queue.draw_batch(annotator, settings, now=now)
    if batch is None:
        return Place("nothing", annotator, settings)
    return _in_batch(batch, settings, now=now)


def _has_other_words(annotator: Annotator, settings: AnnotationSettings) -> bool:
    """Whether the guidelines were changed since this person confirmed them."""
    return annotator.confirmations.exists() and not has_confirmed(annotator, settings)


def _calibrating(annotator: Annotator, settings: AnnotationSettings, *, now: datetime) -> Place:
    """The next batch of an attempt that runs; one that has to be begun is begun by the person."""
    if fails_often(annotator, now):
        return Place("sound", annotator, settings)
    batch = None
    if annotator.attempts.filter(state="running").exists():
        batch = calibration_batch(annotator, settings, now)
    if batch is None:
        return Place("calibration", annotator, settings)
    batch.annotator = annotator
    return _in_batch(batch, settings, now=now)


def is_over(annotator: Annotator, settings: AnnotationSettings) -> bool:
    """Whether the person has done all batches the study has for them."""
    most = settings.max_batches
    return bool(most) and queue.finished_batches(annotator).count() >= most


@transaction.atomic
def finish_item(*, participant: Participant, code: str, now: datetime, seconds: float | None = None) -> Place:
    """Leave a dialogue that is scored and go on. Sent twice, or from a second tab, it says where they are.

    Invalid ``incomplete`` with what is missing by field.
    """
    refuse_if_over(participant)
    settings = settings_for(participant)
    item = access_item(participant, code)
    annotator = item.batch.annotator
    if item.state == State.OPEN and annotator.paused_at is None:
        added = sessions.touch(annotator, sessions.open_session(annotator), settings, now, seconds).seconds
        finish(item, participant, settings, now=now, seconds=added)
    return place_of(annotator, settings, now=now)


def _finish(batch: Batch, settings: AnnotationSettings, *, now: datetime) -> Place:
    """Nothing is open in ``batch``: it is finished. Where all was left out, nobody looks back on it."""
    batch.state, batch.finished_at = Batch.State.FINISHED, now
    if not batch.items.filter(state=State.FINISHED).exists():
        batch.seen_at = now
    batch.save(update_fields=["state", "finished_at", "seen_at"])
    annotator = batch.annotator
    if batch.kind == Batch.Kind.CALIBRATION:
        conclude(batch, now)
        annotator.refresh_from_db(fields=["state", "passed_at"])
    if batch.seen_at is None:
        return Place("done", annotator, settings, batch=batch)
    return _between(annotator, settings, now=now)


@transaction.atomic
def skip_known(*, participant: Participant, code: str, now: datetime, seconds: float | None = None) -> Place:
    """“I know this recording”: what was said on it is kept, not analysed, and another dialogue comes."""
    return _skip(participant, code, now=now, seconds=seconds, known=True)


@transaction.atomic
def skip_failed(
    *, participant: Participant, code: str, why: str, now: datetime, seconds: float | None = None
) -> Place:
    """“The sound fails”: another dialogue comes instead, while it does not fail all the time."""
    failure = cleaned(why).strip()[:40] or UNSAID
    return _skip(participant, code, now=now, seconds=seconds, failure=failure)


def _skip(
    participant: Participant,
    code: str,
    *,
    now: datetime,
    seconds: float | None,
    known: bool = False,
    failure: str = "",
) -> Place:
    """Close an item without its scores. Conflict ``moved_on`` for one that is finished; sent twice, it says
    where the person is.
    """
    refuse_if_over(participant)
    settings = settings_for(participant)
    item = access_item(participant, code)
    annotator = item.batch.annotator
    if item.state == State.FINISHED:
        raise moved_on()
    if item.state == State.OPEN:
        refuse_more(item.batch, settings, known=known)
        item.active_seconds += sessions.touch(
            annotator, sessions.open_session(annotator), settings, now, seconds
        ).seconds
        item.state, item.place = State.SKIPPED, None
        item.known, item.failure = known, failure
        if known:
            item.exclusion = BatchItem.Exclusion.KNOWN
        item.save(update_fields=["state", "place", "known", "failure", "exclusion", "active_seconds"])
        close_address(item)
        if item.batch.kind == Batch.Kind.WORK and not fails_often(annotator, now):
            _replace(item.batch, settings, now=now)
    return place_of(annotator, settings, now=now)


def _replace(batch: Batch, settings: AnnotationSettings, *, now: datetime) -> None:
    """Another dialogue at the end of the batch, where there is one."""
    last = batch.items.order_by("-position").values_list("position", flat=True)[0]
    queue.Draws(batch.annotator, settings, now=now).work(batch, last + 1)


@transaction.atomic
def take_up(*, participant: Participant, now: datetime) -> Place:
    """Take a returned batch back: what is still free goes on, what others were given stays away with all
    that was said on it. Asked twice, or where nothing was returned, it says where the person is.
    """
    refuse_if_over(participant)
    settings = settings_for(participant)
    annotator = locked_annotator(participant, now)
    place = place_of(annotator, settings, now=now)
    if place.name != "returned" or place.batch is None:
        return place
    batch = place.batch
    draws = queue.Draws(annotator, settings, now=now)
    for item in batch.items.filter(state=State.RETURNED).order_by("position"):
        if item.purpose != BatchItem.Purpose.WORK or draws.retake(item):
            item.state = State.OPEN
        else:
            item.state, item.exclusion = State.GIVEN_AWAY, BatchItem.Exclusion.GIVEN_AWAY
            close_address(item)
        item.save(update_fields=["state", "exclusion"])
    batch.state, batch.lease_until = Batch.State.OPEN, lease_end(now, settings.lease_minutes)
    batch.save(update_fields=["state", "lease_until"])
    return _in_batch(batch, settings, now=now)


def why_waiting(annotator: Annotator, settings: AnnotationSettings, *, now: datetime) -> str:
    """Why the person does not go on, as ``Place.reason``; "" where they may. Makes nothing."""
    if annotator.paused_at is not None:
        return "set_aside"
    if annotator.batches.exclude(state=Batch.State.FINISHED).exists():
        return ""
    if annotator.state == Annotator.State.CALIBRATING and fails_often(annotator, now):
        return "sound"
    if annotator.state != Annotator.State.WORKING:
        return ""
    if is_over(annotator, settings):
        return "over"
    if annotator.participant.study.status == Study.Status.PAUSED:
        return "paused"
    if fails_often(annotator, now):
        return "sound"
    return "" if queue.has_work(annotator, settings, now=now) else "nothing"


@transaction.atomic
def mark_seen(*, batch: Batch, now: datetime) -> None:
    """The look back on a batch was shown; from now on the work goes on with the next."""
    Batch.objects.filter(pk=batch.pk, state=Batch.State.FINISHED, seen_at=None).update(seen_at=now)


@transaction.atomic
def switch_keys(*, participant: Participant, off: bool, now: datetime) -> None:
    """Switch the keys of the scoring page off or on for this person."""
    annotator = locked_annotator(participant, now)
    annotator.keys_off = off
    annotator.save(update_fields=["keys_off"])

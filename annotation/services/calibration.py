"""Calibration: batches of dialogues whose scores are known, until a person scores as the others do, or not.

An attempt is over as many finished dialogues as the study asks for; skipped ones are replaced. Its figures
are stored with it. What is given here never enters an analysis.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max

from annotation.choosing import Material, chosen, share_against
from annotation.models import (
    AnnotationSettings,
    Annotator,
    Attempt,
    Batch,
    BatchItem,
    ReferenceDialogue,
)
from annotation.services import material
from annotation.services.annotators import ACTIVITY
from annotation.services.calibration_figures import finished_items, is_passed, running_figures
from annotation.services.queue import known_to
from annotation.services.settings import settings_of
from annotation.services.skipping import fails_often
from annotation.services.taxonomies import freeze
from dialogues.models import Exposure
from studies.assignment import lease_end, seeded
from studies.models import EndState
from studies.services import screen_out
from studies.services.holding import hold

State = Annotator.State


class Standing(NamedTuple):
    """Where somebody is in calibration. ``name``: ready, begun, no_material, passed, failed.

    ``done`` of ``needed`` dialogues of the attempt ``number`` of ``tries`` are finished.
    """

    name: str
    number: int
    tries: int
    done: int
    needed: int


def standing(annotator: Annotator, settings: AnnotationSettings) -> Standing:
    """Where ``annotator`` is: what the page says, and whether a batch can be had."""
    last = annotator.attempts.order_by("-number").first()
    number, done = (last.number, _finished(last)) if last else (0, 0)
    if last is not None and last.state == Attempt.State.FAILED:
        number, done = number + 1, 0
    name = "ready"
    if annotator.state == State.FAILED:
        name, number = "failed", last.number if last else 0
    elif annotator.state == State.WORKING:
        name = "passed"
    elif annotator.batches.exclude(state=Batch.State.FINISHED).exists():
        name = "begun"
    elif is_out_of_material(annotator, settings):
        name = "no_material"
    elif done:
        name = "begun"
    number = max(number, 1)
    tries = max(settings.calibration_tries, number)  # the desk may have given one more
    return Standing(name, number, tries, done, settings.calibration_dialogues)


def is_out_of_material(annotator: Annotator, settings: AnnotationSettings) -> bool:
    """Whether somebody who may still try can't, because there is not enough that is new to them. That is the
    study's doing, not theirs: who stops now stops for a technical reason.
    """
    if annotator.state not in (State.CALIBRATING, State.READING) or not settings.calibration:
        return False
    if annotator.batches.exclude(state=Batch.State.FINISHED).exists():
        return False
    return len(_fresh(annotator)) < _missing(annotator, settings)


@transaction.atomic
def calibration_batch(annotator: Annotator, settings: AnnotationSettings, now: datetime) -> Batch | None:
    """The batch in hand, or the next one of the running attempt, or the first of a new attempt.

    None where nothing is to be calibrated (passed, failed, guidelines unread) and where there are not enough
    dialogues new to this person for the rest of the attempt: none is begun that can't be ended. Nor where the
    sound fails too often just now.
    """
    hold(participant=annotator.participant)
    annotator.refresh_from_db(fields=["state"])
    if annotator.state != State.CALIBRATING:
        return None
    in_hand = annotator.batches.exclude(state=Batch.State.FINISHED).first()
    if in_hand is not None:
        return in_hand
    pool, missing = _fresh(annotator), _missing(annotator, settings)
    if len(pool) < missing or fails_often(annotator, now):
        return None
    freeze(taxonomy=settings.taxonomy, now=now)
    attempt = _running(annotator) or _new_attempt(annotator, now)
    number = (annotator.batches.aggregate(at=Max("number"))["at"] or 0) + 1
    rng = seeded(settings.study.seed, "calibration", annotator.participant.code, number)
    taken = _taken(attempt)
    target = settings.calibration_against
    together = chosen(pool, missing, target=target, rng=rng, taken=taken)
    batch = Batch.objects.create(
        annotator=annotator,
        number=number,
        kind=Batch.Kind.CALIBRATION,
        attempt=attempt,
        started_at=now,
        lease_until=lease_end(now, settings.lease_minutes),
    )
    draw = {"of": len(pool), "target": target, "against": share_against([*taken, *together])}
    rng.shuffle(together)
    for position, one in enumerate(together[: settings.batch_size], start=1):
        _put(batch, one, position, draw, now)
    return batch


@transaction.atomic
def conclude(batch: Batch, now: datetime) -> Attempt | None:
    """Called when a calibration batch is finished: ends its attempt where enough dialogues are. Called again,
    nothing more happens.

    Passed: mean difference at most, and share of clear scores on the right side at least, what the study
    sets. Not passed: another attempt, or the end where there is none left. None for a batch of work.
    """
    if batch.attempt_id is None:
        return None
    annotator = batch.annotator
    hold(participant=annotator.participant)
    attempt = Attempt.objects.select_for_update().get(pk=batch.attempt_id)
    settings = settings_of(annotator.participant.study)
    if (
        attempt.state != Attempt.State.RUNNING
        or attempt.batches.exclude(state=Batch.State.FINISHED).exists()
        or _finished(attempt) < settings.calibration_dialogues
    ):
        return attempt
    figures = running_figures(attempt)
    passed = is_passed(figures, settings)
    attempt.state = Attempt.State.PASSED if passed else Attempt.State.FAILED
    for name, value in figures._asdict().items():
        setattr(attempt, name, value)
    attempt.ended_at = now
    attempt.save()
    if passed:
        Annotator.objects.filter(pk=annotator.pk).update(state=State.WORKING, passed_at=now)
    elif attempt.number >= settings.calibration_tries:
        _fail_for_good(annotator, now)
    annotator.refresh_from_db(fields=["state", "passed_at"])
    return attempt


def _finished(attempt: Attempt) -> int:
    return finished_items(attempt).count()


def _running(annotator: Annotator) -> Attempt | None:
    return annotator.attempts.filter(state=Attempt.State.RUNNING).first()


def _new_attempt(annotator: Annotator, now: datetime) -> Attempt:
    return Attempt.objects.create(annotator=annotator, number=annotator.attempts.count() + 1, started_at=now)


def _missing(annotator: Annotator, settings: AnnotationSettings) -> int:
    """Dialogues that the running attempt, or the next one, still needs."""
    attempt = _running(annotator)
    return max(settings.calibration_dialogues - (_finished(attempt) if attempt else 0), 0)


def _fresh(annotator: Annotator) -> list[Material]:
    """Calibration material in the person's language that they have never met, here or by their account."""
    person = annotator.participant
    met = known_to(person)
    usable = material.for_calibration(person.study, person.judging_language)
    return [one for one in usable if one.dialogue not in met]


def _taken(attempt: Attempt) -> list[Material]:
    """What is finished in the attempt, counted as the rest is."""
    references = ReferenceDialogue.objects.filter(
        study=attempt.annotator.participant.study_id, dialogue__in=finished_items(attempt).values("dialogue")
    )
    return material.material_of(references)


def _put(batch: Batch, one: Material, position: int, draw: Mapping[str, Any], now: datetime) -> None:
    person = batch.annotator.participant
    exposure = Exposure.objects.create(
        study=person.study, rater=person.rater, dialogue_id=one.dialogue, given_at=now
    )
    BatchItem.objects.create(
        study=person.study,
        rater=person.rater,
        dialogue_id=one.dialogue,
        batch=batch,
        position=position,
        purpose=BatchItem.Purpose.CALIBRATION,
        layer=batch.annotator.layer,
        exposure=exposure,
        draw={**draw, "clear": one.clear, "points_against": one.against},
        given_at=now,
    )


def _fail_for_good(annotator: Annotator, now: datetime) -> None:
    """No try is left. Whoever came to annotate alone has ended, with the pay of that end; whoever does other
    things in the study goes on with those.
    """
    Annotator.objects.filter(pk=annotator.pk).update(state=State.FAILED)
    person = annotator.participant
    if (person.activities or person.study.activities) == [ACTIVITY]:
        screen_out(participant=person, end_state=EndState.FAILED_CHECK, now=now)

"""Simulated annotators of the demo: every step goes through the services, on the rater's own clock."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction

from annotation.bots import Heard, Simulated, hear
from annotation.models import AnnotationSettings, Annotator, Batch, BatchItem
from annotation.services import batches, scoring
from annotation.services.annotators import ACTIVITY, annotator_of
from annotation.services.batches import Place
from annotation.services.calibration import calibration_batch
from annotation.services.guidelines import confirm_guidelines, stamp
from annotation.services.joining import join
from annotation.services.listening import Listening
from dialogues.models import Dialogue, Kind
from studies import codes
from studies import services as studies
from studies.models import Participant, Study
from studies.selectors import current_consent_text, current_questionnaire

#: Raters of each language: quality and batches. 18 batches of five leave six of 32 dialogues one place each.
FIRST = [("good", 5), ("good", 5), ("average", 4), ("average", 2), ("careless", 2)]


class Ears(NamedTuple):
    """What the simulated raters hear: ``dimensions`` in their order, and how human each dialogue sounds."""

    dimensions: list[str]
    human: Mapping[int, float]

    def heard(self, dialogue: Dialogue) -> dict[str, Heard]:
        return hear(dialogue.external_id, self.dimensions, human=self.human.get(dialogue.pk, 0.0))


def ears_of(study: Study, settings: AnnotationSettings) -> Ears:
    rows = Dialogue.objects.filter(study_items__study=study).values_list("pk", "external_id", "kind")
    human = {
        pk: random.Random(f"{study.seed}/{name}").gauss(0.7 if kind == Kind.HUMAN_HUMAN else -0.5, 0.4)
        for pk, name, kind in rows
    }
    return Ears(list(settings.taxonomy.dimensions.order_by("position").values_list("key", flat=True)), human)


class Rater(NamedTuple):
    """One simulated annotator at work."""

    participant: Participant
    simulated: Simulated
    ears: Ears


def hire(
    study: Study, ears: Ears, *, code: str, quality: str, language: str, invitation: str, at: datetime
) -> Rater:
    """Somebody who consents, joins by the invitation and confirms the guidelines."""
    rng = random.Random(f"{study.seed}/{code}")
    text = current_consent_text(study, ACTIVITY)
    assert text is not None  # noqa: S101  (an open study has one)
    participant = studies.consent(
        study=study,
        text=text,
        key=codes.resume_code(),
        language="zh-hans" if language == "zh" else "en",
        publish_text=True,
        contact_again=False,
        device_class="desktop",
        activity=ACTIVITY,
        now=at,
    )
    participant.code = code  # draws hang on it: a seeded one makes the demo the same every time
    participant.save(update_fields=["code"])
    studies.choose_language(participant=participant, language=language)
    profile = current_questionnaire(study, "profile")
    if profile is not None:
        values: dict[str, Any] = {
            one["key"]: rng.choice([option["value"] for option in one["options"]])
            for one in profile.questions
        }
        studies.record_answers(
            participant=participant, questionnaire=profile, values=values, language=language, now=at
        )
    join(participant=participant, code=invitation, now=at)
    studies.begin(participant=participant)
    annotator = annotator_of(participant, at)
    taxonomy = study.annotation.taxonomy
    read = at + timedelta(seconds=rng.uniform(150, 320))
    confirm_guidelines(annotator=annotator, stamp=stamp(taxonomy, language, at), now=read)
    return Rater(participant, Simulated.drawn(quality, f"{study.seed}/{code}/rater"), ears)


def work(rater: Rater, *, most: int, at: datetime) -> datetime:
    """Up to ``most`` batches of work, or until nothing is left; when the last was done."""
    now = at
    for _ in range(most):
        place = batches.start_or_resume(participant=rater.participant, now=now)
        if place.name != "batch":
            return now
        now = _batch(rater, place, now)
        now += timedelta(minutes=rater.simulated.rng.uniform(2, 15))
        if rater.simulated.rng.random() < 0.25:
            now += timedelta(hours=rater.simulated.rng.uniform(20, 30))  # goes on another day
    return now


def calibrate(rater: Rater, *, at: datetime) -> datetime:
    """Calibration batches until it is passed or failed."""
    now = at
    participant = rater.participant
    while True:
        annotator = Annotator.objects.select_related("participant__study").get(participant=participant)
        if annotator.state != Annotator.State.CALIBRATING:
            return now
        batch = calibration_batch(annotator, participant.study.annotation, now)
        if batch is None:
            return now
        place = batches.start_or_resume(participant=participant, now=now)
        now = _batch(rater, place, now) + timedelta(minutes=2)


@transaction.atomic
def _batch(rater: Rater, place: Place, now: datetime) -> datetime:
    """Hear and score every dialogue of the batch in hand and look at what comes after it."""
    while place.name == "batch" and place.item is not None:
        now = _item(rater, place.item, now)
        place = batches.finish_item(participant=rater.participant, code=place.item.code, now=now)
    if place.batch is not None and place.batch.state == Batch.State.FINISHED:
        batches.mark_seen(batch=place.batch, now=now)
    return now


def _item(rater: Rater, item: BatchItem, now: datetime) -> datetime:
    """Hear a dialogue whole, then score it row by row and choose."""
    simulated, dialogue = rater.simulated, item.dialogue
    length = dialogue.play_duration or 20.0
    whole = simulated.seconds(length)
    heard = rater.ears.heard(dialogue)
    given = simulated.scores(heard)
    who: dict[str, Any] = {"participant": rater.participant, "code": item.code}
    now += timedelta(seconds=length + 1)
    report = Listening(ranges=((0.0, length),), plays=1, ended=True)
    keys, half = list(given), len(given) // 2
    for number, part in enumerate((keys[:half], keys[half:])):
        now += timedelta(seconds=max(whole - length, 4) / 2)
        scoring.save(
            **who,
            scores={key: {"value": given[key], "version": 0} for key in part},
            report=report if number == 0 else None,
            now=now,
        )
    choice, confidence = simulated.choice(heard, given)
    now += timedelta(seconds=3)
    chosen = {"value": choice, "confidence": confidence, "version": 0}
    scoring.save(**who, choice=chosen, now=now)
    return now

"""The queue of dialogues: what a rater may be given, which place they take, the batch that comes out.

A dialogue has places 1 … k in each layer. Taking one is storing an item with it; a constraint refuses the
same place twice, so no dialogue gets more than k raters whoever asks at the same moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Q, QuerySet

from annotation import balance
from annotation.models import (
    AnnotationSettings,
    Annotator,
    Batch,
    BatchItem,
    ReferenceDialogue,
    ReviewDecision,
)
from annotation.services.leases import sweep
from annotation.services.material import playable_references
from annotation.services.rater_places import TRIAL_PLACES, held_places, lock_places, places_of
from annotation.services.taxonomies import freeze
from dialogues.models import Exposure, StudyItem
from dialogues.selectors import items_in_play
from studies import codes
from studies.assignment import lease_end, seeded
from studies.export_words import product_version
from studies.models import Participant

Purpose = BatchItem.Purpose


def known_to(participant: Participant) -> set[int]:
    """Dialogues the person has met: given to them in any activity, or to their login in another study or by
    review.
    """
    whose = Q(rater=participant.rater)
    if participant.user_id is None:
        return set(Exposure.objects.filter(whose).values_list("dialogue_id", flat=True))
    user = participant.user_id
    whose |= Q(rater__participant__user=user) | Q(rater__user=user)
    met = set(Exposure.objects.filter(whose).values_list("dialogue_id", flat=True))
    return met | set(ReviewDecision.objects.filter(reviewer=user).values_list("case__dialogue_id", flat=True))


class Draws:
    """The draws of one request for one annotator: pool, places and history are read once and kept up to date.

    One counter numbers all dialogues a person gets; with the study's seed and the person's code it gives each
    draw its own numbers. Callers hold the annotator's lock.
    """

    def __init__(
        self, annotator: Annotator, settings: AnnotationSettings, *, now: datetime, looks: bool = False
    ) -> None:
        """``looks``: nothing is drawn, so nobody waits."""
        self.annotator = annotator
        self.participant = annotator.participant
        self.study = annotator.participant.study
        self.settings = settings
        self.layer = annotator.layer
        self.now = now
        self.most = places_of(settings, self.layer)
        on_trial = self.participant.is_pilot or self.participant.is_test
        self.before = TRIAL_PLACES if on_trial else 0  # places are counted from here
        if looks:
            return
        sweep(now=now, study=self.study)
        # Each draw sees the places that the last one took, and none waits for a place of another one that
        # waits for its own.
        lock_places(settings)

    def _in_play(self) -> QuerySet[Any]:
        return items_in_play(
            self.study, self.participant.judging_language, study_items__role=StudyItem.Role.MAIN
        )

    @cached_property
    def known(self) -> set[int]:
        return known_to(self.participant)

    @cached_property
    def pool(self) -> set[int]:
        """Main dialogues of the person's language that may be played and are no references."""
        references = ReferenceDialogue.objects.filter(study=self.study, is_active=True)
        found = set(self._in_play().values_list("pk", flat=True))
        return found - set(references.values_list("dialogue_id", flat=True))

    @cached_property
    def counts(self) -> dict[int, int]:
        """Raters of every dialogue the person may still be given: finished, or in hand."""
        held = self._held().values_list("dialogue_id").annotate(n=Count("pk")).order_by()
        taken = dict(held)
        return {dialogue: taken.get(dialogue, 0) for dialogue in self.pool - self.known}

    def _held(self) -> QuerySet[BatchItem]:
        return held_places(self.study, self.layer, before=self.before)

    @property
    def has_work(self) -> bool:
        return any(n < self.most for n in self.counts.values())

    @cached_property
    def counter(self) -> int:
        return BatchItem.objects.filter(batch__annotator=self.annotator).count()

    @cached_property
    def golds(self) -> list[int]:
        """Dialogues with known scores that the person has not met."""
        gold = playable_references(self.study, ReferenceDialogue.Role.GOLD)
        own = gold.filter(dialogue__language=self.participant.judging_language)
        return sorted(set(own.values_list("dialogue_id", flat=True)) - self.known)

    @cached_property
    def repeats(self) -> list[int]:
        """Dialogues the person finished long enough ago to hear once more, each at most once."""
        batches = finished_batches(self.annotator).count()
        if batches < self.settings.repeat_after_batches:
            return []
        own = BatchItem.objects.filter(batch__annotator=self.annotator)
        before = self.now - timedelta(hours=self.settings.repeat_after_hours)
        rated = own.filter(
            purpose=Purpose.WORK, state=BatchItem.State.FINISHED, known=False, finished_at__lte=before
        )
        met_again = own.filter(purpose=Purpose.REPEAT).values("dialogue_id")
        found = rated.exclude(dialogue__in=met_again).values_list("dialogue_id", flat=True)
        return sorted(set(found) & set(self._in_play().values_list("pk", flat=True)))

    def work(self, batch: Batch, position: int) -> BatchItem | None:
        """Give the dialogue with the fewest raters a place in ``batch``; None where none is left."""
        while True:
            rng = seeded(self.study.seed, "annotation", self.participant.code, self.counter)
            choice = balance.least_rated(self.counts, most=self.most, rng=rng)
            if choice is None:
                return None
            item = self._with_place(batch, position, choice)
            del self.counts[choice.dialogue]  # theirs now, or full
            if item is not None:
                return item

    def _with_place(self, batch: Batch, position: int, choice: balance.Choice) -> BatchItem | None:
        for place in self.free_places(choice.dialogue):
            try:
                with transaction.atomic():  # somebody may take the place at this moment
                    return self.give(
                        batch, position, choice.dialogue, Purpose.WORK, choice.record, place=place
                    )
            except IntegrityError:
                continue
        return None

    def retake(self, item: BatchItem) -> bool:
        """Give an item whose time ran out a place again; False where others hold them all."""
        for place in self.free_places(item.dialogue_id):
            item.place = place
            try:
                with transaction.atomic():
                    item.save(update_fields=["place"])
            except IntegrityError:
                continue
            return True
        item.place = None
        return False

    def free_places(self, dialogue: int) -> list[int]:
        taken = {item.place or 0 for item in self._held().filter(dialogue=dialogue).only("place")}
        return balance.free_places(taken, most=self.most, before=self.before)

    def known_scores(self, batch: Batch, position: int) -> BatchItem | None:
        """Give a dialogue with known scores; None where the person has met all."""
        return self._one_of(self.golds, batch, position, Purpose.GOLD)

    def once_more(self, batch: Batch, position: int) -> BatchItem | None:
        """Give a dialogue that the person has scored before; None where there is none."""
        return self._one_of(self.repeats, batch, position, Purpose.REPEAT, repeat=1)

    def _one_of(
        self, candidates: list[int], batch: Batch, position: int, purpose: Purpose, repeat: int = 0
    ) -> BatchItem | None:
        if not candidates:
            return None
        rng = seeded(self.study.seed, "annotation", self.participant.code, self.counter)
        chosen = rng.choice(candidates)
        record = {"candidates": len(candidates), "chosen": chosen}
        candidates.remove(chosen)
        return self.give(batch, position, chosen, purpose, record, repeat=repeat)

    def give(
        self,
        batch: Batch,
        position: int,
        dialogue: int,
        purpose: Purpose,
        record: Mapping[str, Any],
        *,
        place: int | None = None,
        repeat: int = 0,
    ) -> BatchItem:
        whose = {"study": self.study, "rater": self.participant.rater, "dialogue_id": dialogue}
        key = self.participant.code
        drawn = {"seed": self.study.seed, "key": key, "counter": self.counter, "build": product_version()}
        item = BatchItem.objects.create(
            **whose,
            batch=batch,
            position=position,
            purpose=purpose,
            layer=self.layer,
            repeat=repeat,
            place=place,
            exposure=self._exposure(whose, again=repeat > 0),
            draw={**drawn, **record},
            given_at=self.now,
        )
        self.counter += 1
        return item

    def _exposure(self, whose: Mapping[str, Any], *, again: bool) -> Exposure:
        if not again:
            return Exposure.objects.create(**whose, given_at=self.now)
        exposure = Exposure.objects.get(**whose)
        # As new: an address or a first byte of the first time would tell.
        exposure.token, exposure.first_byte_at = codes.media_token(), None
        exposure.save(update_fields=["token", "first_byte_at"])
        return exposure


def has_work(annotator: Annotator, settings: AnnotationSettings, *, now: datetime) -> bool:
    """Whether a dialogue is left for this person at this moment."""
    return Draws(annotator, settings, now=now, looks=True).has_work


def finished_work(batches: QuerySet[Batch]) -> QuerySet[Batch]:
    """Those of ``batches`` that are finished work, without those in which nothing was finished."""
    return batches.filter(
        kind=Batch.Kind.WORK,
        state=Batch.State.FINISHED,
        items__state=BatchItem.State.FINISHED,
    ).distinct()


def finished_batches(annotator: Annotator) -> QuerySet[Batch]:
    """Batches of work that the person has finished."""
    return finished_work(annotator.batches.all())


def draw_batch(annotator: Annotator, settings: AnnotationSettings, *, now: datetime) -> Batch | None:
    """A batch of work with its items; None where nothing is left for this person. Callers hold their lock.

    It has ``batch_size`` dialogues where the pool has so many. Some may be dialogues with known scores or
    ones the person has scored before, at seeded positions; those come only beside ordinary work.
    """
    draws = Draws(annotator, settings, now=now)
    if not draws.has_work:
        return None
    freeze(taxonomy=settings.taxonomy, now=now)
    number = (annotator.batches.aggregate(at=Max("number"))["at"] or 0) + 1
    batch = Batch.objects.create(
        annotator=annotator,
        number=number,
        kind=Batch.Kind.WORK,
        started_at=now,
        lease_until=lease_end(now, settings.lease_minutes),
    )
    plan = balance.purposes(
        settings.batch_size,
        gold=settings.gold_share,
        repeat=settings.repeat_share,
        rng=seeded(draws.study.seed, "annotation-batch", draws.participant.code, number),
    )
    sources = {balance.GOLD: draws.known_scores, balance.REPEAT: draws.once_more}
    position = 1
    for purpose in plan:
        item = sources[purpose](batch, position) if purpose in sources else None
        if item is not None or draws.work(batch, position) is not None:
            position += 1
    if position == 1:  # others took the last places in this moment
        batch.delete()
        return None
    return batch

"""Batches, their items, the scores; attempts at calibration. Rules of order are in services."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.people import Annotator, Layer
from annotation.models.taxonomy import Dimension
from dialogues.models import Dialogue, Exposure, Nature, Verdict
from studies import codes
from studies.models import Rater, Study


class Attempt(models.Model):
    """One try at calibration: its figures once it has ended, over all its batches.

    ``mean_difference``: mean |score − reference| where both have evidence, over ``compared`` scores.
    ``clear_share``: of the reference's ``clear`` scores (1–2, 4–5), those on the right side. ``against``:
    share of the clear scores that point against the truth. ``choices_right`` is recorded, never gated.
    """

    class State(models.TextChoices):
        RUNNING = "running", _("running")
        PASSED = "passed", _("passed")
        FAILED = "failed", _("not passed")

    annotator = models.ForeignKey(Annotator, models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField(_("number"))
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.RUNNING)
    dialogues = models.PositiveSmallIntegerField(_("dialogues"), default=0)
    compared = models.PositiveIntegerField(_("scores compared"), default=0)
    mean_difference = models.FloatField(_("mean difference"), null=True, blank=True)
    clear = models.PositiveIntegerField(_("clear scores"), default=0)
    clear_share = models.FloatField(_("clear scores on the right side"), null=True, blank=True)
    against = models.FloatField(_("clear scores against the truth"), null=True, blank=True)
    choices_right = models.PositiveSmallIntegerField(_("right choices"), default=0)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("calibration")
        verbose_name_plural = _("calibrations")
        constraints = [
            models.UniqueConstraint(fields=["annotator", "number"], name="one_attempt_per_number"),
            models.UniqueConstraint(
                fields=["annotator"], condition=Q(state="running"), name="one_running_attempt_per_annotator"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} #{self.number}"


class Batch(models.Model):
    """Up to ``batch_size`` dialogues given in one go. Left alone past its lease it is *returned*: finished
    items stay, the others lose their place; the person is offered the rest when they come back.
    """

    class Kind(models.TextChoices):
        CALIBRATION = "calibration", _("calibration")
        WORK = "work", _("work")

    class State(models.TextChoices):
        OPEN = "open", _("open")
        RETURNED = "returned", _("returned")
        FINISHED = "finished", _("finished")

    annotator = models.ForeignKey(Annotator, models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField(_("number"))
    kind = models.CharField(_("kind"), max_length=12, choices=Kind.choices)
    attempt = models.ForeignKey(Attempt, models.CASCADE, null=True, blank=True, related_name="batches")
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.OPEN)
    started_at = models.DateTimeField()
    lease_until = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)  # feedback or summary was shown

    class Meta:
        verbose_name = _("batch")
        verbose_name_plural = _("batches")
        ordering = ["annotator", "number"]
        constraints = [
            models.UniqueConstraint(fields=["annotator", "number"], name="one_batch_per_number"),
            models.UniqueConstraint(
                fields=["annotator"],
                condition=~Q(state="finished"),
                name="one_unfinished_batch_per_annotator",
            ),
        ]
        indexes = [models.Index(fields=["state", "lease_until"], name="batches_by_lease")]

    def __str__(self) -> str:
        return f"{self.annotator_id} #{self.number}"


class BatchItem(models.Model):
    """One dialogue put to one annotator. ``place``: which of the study's places (1 … k) it holds.

    Only ordinary work holds a place; two raters can't hold the same one, so a dialogue never gets more than
    k. ``exclusion`` says why its scores are not analysed. ``repeat`` counts hidden repeats from 1.
    """

    class Purpose(models.TextChoices):
        WORK = "work", _("work")
        CALIBRATION = "calibration", _("calibration")
        GOLD = "gold", _("gold")
        REPEAT = "repeat", _("hidden repeat")

    class State(models.TextChoices):
        OPEN = "open", _("open")
        FINISHED = "finished", _("finished")
        RETURNED = "returned", _("returned")  # the lease ran out; its place is free
        GIVEN_AWAY = "given_away", _("given to somebody else")  # while away; answers are kept
        SKIPPED = "skipped", _("skipped")  # the sound fails, or the recording is known

    class Exclusion(models.TextChoices):
        NONE = "", _("analysed")
        PILOT = "pilot", _("pilot")
        TEST = "test", _("test participant")
        KNOWN = "known", _("recording known")
        RECORDING = "recording", _("recording withdrawn")
        RATER = "rater", _("rater set aside")
        GIVEN_AWAY = "given_away", _("given to somebody else")
        WITHDRAWN = "withdrawn", _("withdrawn")

    study = models.ForeignKey(Study, models.PROTECT, related_name="+")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="annotation_items")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="annotation_items")
    batch = models.ForeignKey(Batch, models.CASCADE, related_name="items")
    position = models.PositiveSmallIntegerField(_("position"))
    code = models.CharField(max_length=20, unique=True, default=codes.public_code)
    purpose = models.CharField(_("purpose"), max_length=12, choices=Purpose.choices)
    layer = models.CharField(_("layer"), max_length=12, choices=Layer.choices, default=Layer.RAW)
    repeat = models.PositiveSmallIntegerField(_("repeat"), default=0)
    place = models.PositiveSmallIntegerField(_("place"), null=True, blank=True)
    exposure = models.ForeignKey(Exposure, models.PROTECT, related_name="annotation_items")
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.OPEN)
    draw = models.JSONField(_("draw"), default=dict)
    given_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True, blank=True)  # first shown
    first_play_at = models.DateTimeField(null=True, blank=True)
    whole_at = models.DateTimeField(_("heard whole"), null=True, blank=True)  # at speed 1
    gate = models.CharField(_("gate"), max_length=8, blank=True)  # ended, covered, timeout
    ranges = models.JSONField(default=list)  # union of stretches played at speed 1, seconds
    heard = models.FloatField(_("heard fraction"), default=0)
    plays = models.PositiveSmallIntegerField(default=0)
    pauses = models.PositiveSmallIntegerField(default=0)
    slowest = models.FloatField(_("slowest speed"), default=1.0)
    slow_seconds = models.FloatField(_("seconds heard slower"), default=0)
    hidden_seconds = models.FloatField(default=0)
    active_seconds = models.FloatField(_("active seconds"), default=0)
    version = models.PositiveIntegerField(default=0)  # of the choice
    choice = models.CharField(_("choice"), max_length=10, choices=Nature.choices, blank=True)
    first_choice = models.CharField(_("first choice"), max_length=10, choices=Nature.choices, blank=True)
    confidence = models.PositiveSmallIntegerField(_("confidence"), null=True, blank=True)
    chosen_at = models.DateTimeField(null=True, blank=True)
    known = models.BooleanField(_("recording known"), default=False)
    failure = models.CharField(_("what failed"), max_length=40, blank=True)
    exclusion = models.CharField(_("exclusion"), max_length=12, choices=Exclusion.choices, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    verdict = models.OneToOneField(
        Verdict, models.SET_NULL, null=True, blank=True, related_name="annotation_item"
    )

    class Meta:
        verbose_name = _("annotation")
        verbose_name_plural = _("annotations")
        ordering = ["batch", "position"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "position"], name="one_item_per_batch_position"),
            models.UniqueConstraint(
                fields=["study", "rater", "dialogue", "repeat"], name="one_item_per_rater_and_dialogue"
            ),
            models.UniqueConstraint(
                fields=["study", "dialogue", "layer", "place"],
                condition=Q(place__isnull=False),
                name="one_rater_per_place",
            ),
            models.CheckConstraint(
                name="only_work_holds_a_place",
                condition=Q(place__isnull=True) | Q(purpose="work", place__gte=1),
            ),
            models.CheckConstraint(
                name="only_repeats_are_repeated",
                condition=Q(purpose="repeat", repeat__gte=1) | (~Q(purpose="repeat") & Q(repeat=0)),
            ),
            models.CheckConstraint(
                name="choice_confidence_has_five_steps",
                condition=Q(confidence__isnull=True) | (Q(confidence__gte=1) & Q(confidence__lte=5)),
            ),
            models.CheckConstraint(
                name="a_finished_item_has_its_choice",
                condition=~Q(state="finished") | (~Q(choice="") & Q(finished_at__isnull=False)),
            ),
            models.CheckConstraint(name="annotations_are_blind", condition=~Q(layer="truth-shown")),
        ]
        indexes = [models.Index(fields=["study", "state"], name="items_by_state")]

    def __str__(self) -> str:
        return self.code


class Score(models.Model):
    """A rater's score of one dimension of a dialogue, in one layer. No evidence: value 3, ``evidence`` false.

    ``item`` is empty for imported scores, and for scores of the layer truth-shown, which ``revises`` points
    to the raw one of. ``version`` counts writes: a client says which one it knows. ``purpose`` and
    ``exclusion`` are those of the item; only scores without one, as a file brought them, have their own.
    """

    class Exclusion(models.TextChoices):
        NONE = "", _("analysed")
        PILOT = "pilot", _("pilot")
        TEST = "test", _("test participant")
        KNOWN = "known", _("recording known")
        RECORDING = "recording", _("recording withdrawn")
        RATER = "rater", _("rater set aside")
        GIVEN_AWAY = "given_away", _("given to somebody else")
        WITHDRAWN = "withdrawn", _("withdrawn")
        UNFINISHED = "unfinished", _("dialogue not finished")

    study = models.ForeignKey(Study, models.PROTECT, related_name="scores")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="scores")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="scores")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="scores")
    layer = models.CharField(_("layer"), max_length=12, choices=Layer.choices, default=Layer.RAW)
    repeat = models.PositiveSmallIntegerField(_("repeat"), default=0)
    item = models.ForeignKey(BatchItem, models.CASCADE, null=True, blank=True, related_name="scores")
    revises = models.OneToOneField("self", models.CASCADE, null=True, blank=True, related_name="revised")
    value = models.PositiveSmallIntegerField(_("score"))
    evidence = models.BooleanField(_("with evidence"), default=True)
    first_value = models.PositiveSmallIntegerField(_("first score"), null=True, blank=True)
    first_evidence = models.BooleanField(_("first with evidence"), null=True, blank=True)
    changes = models.PositiveSmallIntegerField(_("changes"), default=0)
    version = models.PositiveIntegerField(default=1)
    purpose = models.CharField(
        _("purpose"), max_length=12, choices=BatchItem.Purpose.choices, blank=True, default="", db_default=""
    )
    exclusion = models.CharField(
        _("exclusion"), max_length=12, choices=Exclusion.choices, blank=True, default="", db_default=""
    )
    given_at = models.DateTimeField(_("given"))
    changed_at = models.DateTimeField(_("changed"), null=True, blank=True)

    class Meta:
        verbose_name = _("score")
        verbose_name_plural = _("scores")
        constraints = [
            models.UniqueConstraint(
                fields=["study", "rater", "dialogue", "dimension", "layer", "repeat"],
                name="one_score_per_rater_and_dimension",
            ),
            models.CheckConstraint(name="score_has_five_steps", condition=Q(value__gte=1) & Q(value__lte=5)),
            models.CheckConstraint(
                name="no_evidence_is_stored_as_three", condition=Q(evidence=True) | Q(value=3)
            ),
            models.CheckConstraint(
                name="only_shown_scores_revise", condition=Q(revises__isnull=True) | Q(layer="truth-shown")
            ),
            models.CheckConstraint(
                name="an_item_says_its_purpose",
                condition=Q(item__isnull=True) | Q(purpose="", exclusion=""),
            ),
        ]
        indexes = [models.Index(fields=["study", "dialogue", "layer"], name="scores_by_dialogue")]

    def __str__(self) -> str:
        return f"{self.dimension_id} {self.value}"

"""What raters meet and what they say: study items, exposures, flags, verdicts."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from dialogues.models.corpus import Dialogue, Nature, Turn
from studies import codes
from studies.models import Rater, Study


class StudyItem(models.Model):
    """A dialogue's part in a study. ``block`` numbers the period in which its system entered the study."""

    class Role(models.TextChoices):
        MAIN = "main", _("main")
        ATTENTION = "attention", _("attention")
        GOLD = "gold", _("gold")
        CALIBRATION = "calibration", _("calibration")

    study = models.ForeignKey(Study, models.CASCADE, related_name="items")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="study_items")
    role = models.CharField(_("role"), max_length=12, choices=Role.choices, default=Role.MAIN)
    # Of attention items: the answer that the voice asks for.
    expected = models.CharField(_("answer asked for"), max_length=8, choices=Nature.choices, blank=True)
    block = models.PositiveSmallIntegerField(_("block"), default=1)
    is_active = models.BooleanField(_("active"), default=True)
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("study item")
        verbose_name_plural = _("study items")
        constraints = [
            models.UniqueConstraint(fields=["study", "dialogue"], name="one_study_item_per_dialogue"),
            models.CheckConstraint(
                name="only_attention_items_ask_for_an_answer", condition=Q(expected="") | Q(role="attention")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study_id} {self.dialogue_id}"


class Exposure(models.Model):
    """A rater was given a dialogue. The token is the only address under which they may fetch its sound."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="exposures")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="exposures")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="exposures")
    token = models.CharField(max_length=40, unique=True, default=codes.media_token)
    given_at = models.DateTimeField()
    first_byte_at = models.DateTimeField(null=True, blank=True)
    heard_at = models.DateTimeField(null=True, blank=True)  # first reported playing
    # The file it was given as, while a newer one has replaced that; empty: the dialogue's.
    play_path = models.CharField(max_length=300, blank=True)
    # Of that file: {"length": seconds, "turns": [[label, start], …]}. None: the dialogue's.
    time_line = models.JSONField(null=True, blank=True)

    class Meta:
        verbose_name = _("exposure")
        verbose_name_plural = _("exposures")
        constraints = [
            models.UniqueConstraint(
                fields=["study", "rater", "dialogue"], name="one_exposure_per_rater_and_dialogue"
            )
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} {self.dialogue_id}"


class FlagQuerySet(models.QuerySet["Flag"]):
    def standing(self) -> FlagQuerySet:
        """Those that nobody rejected."""
        return self.exclude(review=Flag.Review.REJECTED)


class Flag(models.Model):
    """A quality rule or a reviewer marked a dialogue or one of its turns. Flags mark, they never delete.

    ``source``: ``quality`` (measured in the sound), ``rule`` (found in the transcript), ``review`` (a
    person's own mark). A person may confirm or reject what a rule found: ``review``, by whom and when.
    """

    class Review(models.TextChoices):
        OPEN = "", _("not looked at")
        CONFIRMED = "confirmed", _("confirmed")
        REJECTED = "rejected", _("rejected")

    dialogue = models.ForeignKey(Dialogue, models.CASCADE, related_name="flags")
    turn = models.ForeignKey(Turn, models.CASCADE, null=True, blank=True, related_name="flags")
    rule = models.SlugField(_("rule"), max_length=60)
    value = models.FloatField(_("number"), null=True, blank=True)
    evidence = models.JSONField(_("evidence"), default=dict)
    source = models.CharField(_("source"), max_length=20, default="quality")
    raised_at = models.DateTimeField(auto_now_add=True)
    review = models.CharField(_("reviewed as"), max_length=10, choices=Review.choices, blank=True)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)

    objects = FlagQuerySet.as_manager()

    class Meta:
        verbose_name = _("flag")
        indexes = [models.Index(fields=["rule", "dialogue"], name="flags_by_rule")]
        verbose_name_plural = _("flags")
        constraints = [
            models.UniqueConstraint(
                fields=["dialogue", "rule", "source"],
                condition=Q(turn__isnull=True),
                name="one_flag_per_dialogue_rule",
            ),
            models.UniqueConstraint(
                fields=["turn", "rule", "source"],
                condition=Q(turn__isnull=False),
                name="one_flag_per_turn_rule",
            ),
            models.CheckConstraint(
                name="a_review_has_its_time",
                condition=Q(review="", reviewed_at__isnull=True)
                | (~Q(review="") & Q(reviewed_at__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return self.rule


class Choice(models.TextChoices):
    HUMAN = "human", _("human")
    MACHINE = "machine", _("machine")
    UNSCORED = "unscored", _("unscored")


#: The listening game. What its plan, its figures and its blinding count are its verdicts and no others.
GAME = "speech"


class VerdictQuerySet(models.QuerySet["Verdict"]):
    def of_game(self) -> VerdictQuerySet:
        """Those of the listening game: the final choices of annotators are apart."""
        return self.filter(activity=GAME)


class Verdict(models.Model):
    """A rater's opinion on who speaker B is. People always have repeat 0.

    ``exclusion`` is empty where the verdict belongs to the analysis set *all*; ``protocol_breaks`` lists what
    keeps it out of *per_protocol*. Both are stored with the verdict, so no count depends on a later rule.
    """

    class Exclusion(models.TextChoices):
        NONE = "", _("analysed")
        KNOWN = "known", _("recording known")
        FOR_FUN = "for_fun", _("for fun")
        PILOT = "pilot", _("pilot")
        TEST = "test", _("test participant")
        WITHDRAWN = "withdrawn", _("withdrawn")
        CHECK = "check", _("check item")
        RECORDING = "recording", _("recording withdrawn")
        RATER = "rater", _("rater set aside")
        GIVEN_AWAY = "given_away", _("given to somebody else")

    study = models.ForeignKey(Study, models.PROTECT, related_name="verdicts")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="verdicts")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="verdicts")
    activity = models.CharField(_("activity"), max_length=20)
    repeat = models.PositiveSmallIntegerField(default=0)
    choice = models.CharField(_("choice"), max_length=10, choices=Choice.choices)
    first_choice = models.CharField(max_length=10, choices=Choice.choices, blank=True)
    confidence = models.PositiveSmallIntegerField(_("confidence"), null=True, blank=True)
    reason = models.JSONField(_("reason"), default=dict, blank=True)
    evidence = models.JSONField(_("listening evidence"), default=dict)
    round_number = models.PositiveIntegerField(_("round"), default=0)
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    round_finished = models.BooleanField(_("in a finished round"), default=False)
    exclusion = models.CharField(_("exclusion"), max_length=12, choices=Exclusion.choices, blank=True)
    protocol_breaks = models.JSONField(_("protocol breaks"), default=list)
    given_at = models.DateTimeField(_("given"))
    changed_at = models.DateTimeField(null=True, blank=True)

    objects = VerdictQuerySet.as_manager()

    class Meta:
        verbose_name = _("verdict")
        verbose_name_plural = _("verdicts")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["study", "exclusion"]),
            models.Index(fields=["study", "dialogue"]),
            models.Index(fields=["study", "given_at", "id"], name="verdicts_by_time"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "rater", "dialogue", "repeat"], name="one_verdict_per_rater_and_dialogue"
            ),
            models.CheckConstraint(
                name="confidence_has_five_steps",
                condition=Q(confidence__isnull=True) | Q(confidence__range=(1, 5)),
            ),
        ]

    def __str__(self) -> str:
        return self.choice

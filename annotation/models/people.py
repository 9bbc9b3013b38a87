"""Annotators: what the annotation keeps about a participant, what they read, when they worked."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models.taxonomy import Taxonomy
from studies import codes
from studies.models import Participant, Study


class Layer(models.TextChoices):
    """Whose labels: raters', experts' without the truth, or revised with the truth in sight."""

    RAW = "raw", _("raw")
    BLIND_EXPERT = "blind-expert", _("blind expert")
    TRUTH_SHOWN = "truth-shown", _("truth shown")


class Invitation(models.Model):
    """A link by which people become annotators of a study; ``layer`` says in which arm."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="annotation_invitations")
    code = models.CharField(max_length=20, unique=True, default=codes.public_code)
    label = models.CharField(_("label"), max_length=80, blank=True)
    layer = models.CharField(_("arm"), max_length=12, choices=Layer.choices, default=Layer.RAW)
    places = models.PositiveIntegerField(_("places, 0 for no limit"), default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        constraints = [
            models.CheckConstraint(
                name="nobody_is_invited_to_see_the_truth", condition=~models.Q(layer="truth-shown")
            )
        ]

    def __str__(self) -> str:
        return self.code


class Annotator(models.Model):
    """A participant who annotates. ``category_order``: keys of the categories, drawn once and kept."""

    class State(models.TextChoices):
        READING = "reading", _("reads the guidelines")
        CALIBRATING = "calibrating", _("calibrates")
        WORKING = "working", _("works")
        FAILED = "failed", _("did not pass calibration")

    participant = models.OneToOneField(Participant, models.CASCADE, related_name="annotator")
    invitation = models.ForeignKey(
        Invitation, models.SET_NULL, null=True, blank=True, related_name="annotators"
    )
    layer = models.CharField(_("arm"), max_length=12, choices=Layer.choices, default=Layer.RAW)
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.READING)
    category_order = models.JSONField(default=list)
    human_left = models.BooleanField(_("human button left"), default=True)
    keys_off = models.BooleanField(_("keys switched off"), default=False)
    joined_at = models.DateTimeField(_("joined"))
    passed_at = models.DateTimeField(_("passed calibration"), null=True, blank=True)
    paused_at = models.DateTimeField(_("paused"), null=True, blank=True)
    paused_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    paused_reason = models.CharField(_("why paused"), max_length=300, blank=True)
    # Their scores are left out of the analysis, and their places are free again.
    set_aside_at = models.DateTimeField(_("set aside"), null=True, blank=True)
    set_aside_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    set_aside_reason = models.CharField(_("why set aside"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("annotator")
        verbose_name_plural = _("annotators")
        constraints = [
            models.CheckConstraint(
                name="annotators_do_not_see_the_truth", condition=~models.Q(layer="truth-shown")
            ),
            models.CheckConstraint(
                name="scores_are_set_aside_with_a_reason",
                condition=models.Q(set_aside_at__isnull=True, set_aside_reason="")
                | (models.Q(set_aside_at__isnull=False) & ~models.Q(set_aside_reason="")),
            ),
        ]

    def __str__(self) -> str:
        return str(self.participant_id)

    @property
    def stage(self) -> str:
        """The state in words; "finished" for people at work whose study has ended for them."""
        is_through = self.state == self.State.WORKING and bool(self.participant.end_state)
        return gettext("finished") if is_through else str(self.get_state_display())


class GuidelineConfirmation(models.Model):
    """An annotator confirmed to have read the guidelines of one version, with the hash of its words."""

    annotator = models.ForeignKey(Annotator, models.CASCADE, related_name="confirmations")
    taxonomy = models.ForeignKey(Taxonomy, models.PROTECT, related_name="confirmations")
    sha256 = models.CharField(max_length=64)
    language = models.CharField(max_length=10)
    seconds = models.PositiveIntegerField(_("seconds on the page"), null=True, blank=True)
    given_at = models.DateTimeField()

    class Meta:
        verbose_name = _("confirmation of the guidelines")
        verbose_name_plural = _("confirmations of the guidelines")
        constraints = [
            models.UniqueConstraint(
                fields=["annotator", "taxonomy", "sha256"], name="one_confirmation_per_text"
            )
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} {self.taxonomy_id}"


class WorkSession(models.Model):
    """A stretch of work without a long gap. ``active_seconds`` counts what lies between two signs of work,
    each gap at most ``idle_seconds`` of the study.
    """

    annotator = models.ForeignKey(Annotator, models.CASCADE, related_name="sessions")
    started_at = models.DateTimeField(_("started"))
    last_at = models.DateTimeField(_("last sign"))
    active_seconds = models.FloatField(_("active seconds"), default=0)
    since_break = models.FloatField(_("active seconds since the last break"), default=0)
    breaks_offered = models.PositiveSmallIntegerField(_("breaks offered"), default=0)
    breaks_taken = models.PositiveSmallIntegerField(_("breaks taken"), default=0)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        verbose_name = _("work session")
        verbose_name_plural = _("work sessions")
        ordering = ["annotator", "started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["annotator"],
                condition=models.Q(ended_at__isnull=True),
                name="one_open_session_per_annotator",
            )
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} {self.started_at:%Y-%m-%d %H:%M}"

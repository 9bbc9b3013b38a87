"""Dialogues whose scores are known: for calibration, and as gold items among the work."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.taxonomy import Dimension
from dialogues.models import Dialogue
from studies.models import Study


class ReferenceDialogue(models.Model):
    """A dialogue with known scores in a study. While it is active, nobody is given it as ordinary work."""

    class Role(models.TextChoices):
        CALIBRATION = "calibration", _("calibration")
        GOLD = "gold", _("gold")

    study = models.ForeignKey(Study, models.CASCADE, related_name="reference_dialogues")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="+")
    role = models.CharField(_("role"), max_length=12, choices=Role.choices)
    source = models.CharField(_("source"), max_length=20)  # review, import, bots
    is_active = models.BooleanField(_("active"), default=True)
    added_at = models.DateTimeField()
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        verbose_name = _("reference dialogue")
        verbose_name_plural = _("reference dialogues")
        constraints = [
            models.UniqueConstraint(fields=["study", "dialogue"], name="one_reference_per_dialogue")
        ]

    def __str__(self) -> str:
        return f"{self.study_id} {self.dialogue_id}"


class ReferenceScore(models.Model):
    """The known score of one dimension; 3 without evidence where the reference heard none."""

    reference = models.ForeignKey(ReferenceDialogue, models.CASCADE, related_name="scores")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="+")
    value = models.PositiveSmallIntegerField(_("score"))
    evidence = models.BooleanField(_("with evidence"), default=True)

    class Meta:
        verbose_name = _("reference score")
        verbose_name_plural = _("reference scores")
        constraints = [
            models.UniqueConstraint(
                fields=["reference", "dimension"], name="one_reference_score_per_dimension"
            ),
            models.CheckConstraint(
                name="reference_score_has_five_steps", condition=Q(value__gte=1) & Q(value__lte=5)
            ),
            models.CheckConstraint(
                name="reference_without_evidence_is_three", condition=Q(evidence=True) | Q(value=3)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reference_id} {self.dimension_id} {self.value}"

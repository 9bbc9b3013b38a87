"""Nuisance audits of a study's dialogues, kept with what they were made of; the owner's answers in words."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from studies.models import Study


class StimulusAudit(models.Model):
    """One audit of the dialogues that are in play, under the fingerprint of these and of their processing.

    ``result``: one row a figure (language, comparison, feature, n, auc, low, high, warning). Claimed by
    compare-and-set like processing jobs. Other material has another fingerprint and needs its own audit.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    study = models.ForeignKey(Study, models.CASCADE, related_name="stimulus_audits")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    fingerprint = models.CharField(max_length=64)
    dialogues = models.PositiveIntegerField(_("dialogues"), default=0)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    result = models.JSONField(_("figures"), default=list, blank=True)
    step = models.PositiveSmallIntegerField(_("steps done"), default=0)
    steps = models.PositiveSmallIntegerField(_("steps"), default=0)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    claim = models.CharField(max_length=40, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(_("made"), null=True, blank=True)

    class Meta:
        verbose_name = _("nuisance audit")
        verbose_name_plural = _("nuisance audits")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "fingerprint"], name="one_audit_per_fingerprint")
        ]

    def __str__(self) -> str:
        return self.fingerprint[:12]


class AuditAnswer(models.Model):
    """Why a study may open in spite of a warning, in words. ``key``: language/comparison/feature."""

    audit = models.ForeignKey(StimulusAudit, models.CASCADE, related_name="answers")
    key = models.CharField(_("warning"), max_length=120)
    text = models.TextField(_("answer"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    answered_at = models.DateTimeField(_("answered"))

    class Meta:
        verbose_name = _("answer to a warning")
        verbose_name_plural = _("answers to warnings")
        ordering = ["audit", "key"]
        constraints = [models.UniqueConstraint(fields=["audit", "key"], name="one_answer_per_warning")]

    def __str__(self) -> str:
        return self.key

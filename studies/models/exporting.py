"""Exports being made: a job is a row first; the queue only wakes whoever claims it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies import codes
from studies.models.study import ExportFile, Language, Study


class ExportJob(models.Model):
    """One export that somebody asked for. Claimed by compare-and-set; a lease that ran out gives it back."""

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("being made")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        STOPPED = "stopped", _("stopped")

    LIVE = (State.QUEUED, State.RUNNING)

    study = models.ForeignKey(Study, models.CASCADE, related_name="export_jobs")
    code = models.CharField(max_length=20, unique=True, default=codes.public_code)
    tier = models.CharField(_("tier"), max_length=12)
    formats = models.CharField(_("formats"), max_length=40)  # in the order of sheets.FORMATS, with commas
    language = models.CharField(_("language"), max_length=5, choices=Language.choices, blank=True)
    bom = models.BooleanField(_("byte-order mark"), default=False)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    rows_done = models.PositiveBigIntegerField(default=0)
    rows_total = models.PositiveBigIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(_("what went wrong"), blank=True)
    file = models.OneToOneField(ExportFile, models.SET_NULL, null=True, blank=True, related_name="job")
    size = models.PositiveBigIntegerField(_("size"), default=0)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)  # the file; the row stays
    lease_until = models.DateTimeField(null=True, blank=True)
    claim = models.CharField(max_length=40, blank=True)  # whoever holds the lease; a late finisher is ignored

    class Meta:
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "lease_until"])]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "tier", "formats", "language"],
                condition=Q(state__in=("queued", "running")),
                name="one_live_export_of_a_kind",
            ),
            models.CheckConstraint(
                name="running_exports_are_claimed", condition=~Q(state="running") | ~Q(claim="")
            ),
            models.CheckConstraint(
                name="only_exports_that_are_done_have_a_file",
                condition=Q(state="done") | Q(file__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.state}"

    @property
    def can_be_fetched(self) -> bool:
        """Its file is there and nobody in it has asked for erasure since."""
        return self.file is not None and self.removed_at is None and self.file.stale_since is None

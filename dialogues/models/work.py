"""Work on the corpus as rows: processing jobs and imports. The queue only wakes whoever claims them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from dialogues.models.corpus import Dialogue
from studies.models import Study


class ProcessingJob(models.Model):
    """Making one dialogue playable. Claimed by compare-and-set; a lease that ran out gives it back."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    dialogue = models.OneToOneField(Dialogue, models.CASCADE, related_name="job")
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    gap_profile = models.CharField(_("gap profile"), max_length=40, default="own-1")
    seed = models.BigIntegerField(_("seed"), default=0)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    claim = models.CharField(max_length=40, blank=True)  # whoever holds the lease; a late finisher is ignored
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("processing job")
        verbose_name_plural = _("processing jobs")
        indexes = [models.Index(fields=["state", "lease_until"])]

    def __str__(self) -> str:
        return f"{self.dialogue_id} {self.state}"


class ImportBatch(models.Model):
    """One manifest being imported: by the command, or by a worker after an upload on the desk."""

    class State(models.TextChoices):
        PREVIEW = "preview", _("preview")
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        REFUSED = "refused", _("refused")

    study = models.ForeignKey(Study, models.SET_NULL, null=True, blank=True, related_name="imports")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    name = models.CharField(_("file"), max_length=200)
    folder = models.CharField(max_length=300, blank=True)  # uploaded files, below the media root
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    trouble = models.TextField(_("what went wrong"), blank=True)
    notes = models.JSONField(_("notes on the file"), default=list, blank=True)  # as ImportRow.messages
    create_systems = models.BooleanField(_("create unknown systems"), default=False)
    lease_until = models.DateTimeField(null=True, blank=True)
    claim = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)  # none for a stopped preview: see below

    class Meta:
        verbose_name = _("import")
        verbose_name_plural = _("imports")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_stopped_preview(self) -> bool:
        """Stopped before anybody confirmed it: nothing was taken in, and it goes on as a preview."""
        return self.state == self.State.STOPPED and self.finished_at is None


class ImportRow(models.Model):
    """One row of a manifest and what became of it."""

    class State(models.TextChoices):
        PENDING = "pending", _("pending")
        ACCEPTED = "accepted", _("accepted")
        WARNED = "warned", _("accepted with a warning")
        UNCHANGED = "unchanged", _("unchanged")
        REFUSED = "refused", _("refused")

    batch = models.ForeignKey(ImportBatch, models.CASCADE, related_name="rows")
    line = models.PositiveIntegerField(_("line"))
    external_id = models.CharField(_("id"), max_length=200, blank=True)
    data = models.JSONField(default=dict)
    state = models.CharField(_("result"), max_length=10, choices=State.choices, default=State.PENDING)
    messages = models.JSONField(_("messages"), default=list)  # [{"code", "message", "params"}]
    dialogue = models.ForeignKey(Dialogue, models.SET_NULL, null=True, blank=True, related_name="import_rows")

    class Meta:
        verbose_name = _("import row")
        verbose_name_plural = _("import rows")
        ordering = ["batch", "line"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "line"], name="one_import_row_per_line"),
            models.CheckConstraint(
                name="accepted_rows_have_a_dialogue_or_lost_it",
                condition=~Q(state="pending") | Q(dialogue__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line}"

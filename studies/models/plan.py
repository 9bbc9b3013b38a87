"""The plan of a study: what is asked and how it will be decided, frozen before the answers come in."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies.models.study import Study


class PlanQuerySet(models.QuerySet["Plan"]):
    def frozen(self) -> PlanQuerySet:
        """The versions that are fixed, the first one first."""
        return self.filter(frozen_at__isnull=False).order_by("version")

    def drafts(self) -> PlanQuerySet:
        return self.filter(frozen_at__isnull=True)


class Plan(models.Model):
    """One version of a study's plan. A draft may change; a frozen row never does (a trigger holds it).

    ``content``: the keys of ``studies.plans.EMPTY``. ``markdown`` is the file as frozen, ``sha256`` its hash.
    ``status`` and ``verdicts`` say how far the study was then: state, and analysed verdicts there were.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="plans")
    version = models.PositiveIntegerField(_("version"))
    content = models.JSONField(_("content"), default=dict)
    reason = models.CharField(_("why it was changed"), max_length=500, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    frozen_at = models.DateTimeField(_("frozen"), null=True, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    markdown = models.TextField(blank=True)
    status = models.CharField(max_length=20, choices=Study.Status.choices, blank=True)
    verdicts = models.PositiveIntegerField(_("verdicts then"), default=0)

    objects = PlanQuerySet.as_manager()

    class Meta:
        verbose_name = _("plan")
        verbose_name_plural = _("plans")
        ordering = ["study", "version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "version"], name="one_plan_per_version"),
            models.UniqueConstraint(
                fields=["study"], condition=Q(frozen_at__isnull=True), name="one_draft_of_a_plan"
            ),
            models.CheckConstraint(
                name="frozen_plan_has_its_file",
                condition=Q(frozen_at__isnull=True, sha256="") | (Q(frozen_at__isnull=False) & ~Q(sha256="")),
            ),
            models.CheckConstraint(
                name="changed_plan_says_why",
                condition=Q(frozen_at__isnull=True) | Q(version=1) | ~Q(reason=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study_id} v{self.version}"

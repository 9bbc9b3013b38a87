"""Studies and what belongs to one: members, consent texts, ends and their pay, exports, the audit trail."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _


def draw_seed() -> int:
    """A fresh study seed, 62 bits (fits a signed BIGINT)."""
    return secrets.randbits(62)


class Language(models.TextChoices):
    """Languages a dialogue is in and a participant judges in."""

    EN = "en", _("English")
    ZH = "zh", _("Chinese")


class StudyQuerySet(models.QuerySet["Study"]):
    def joinable(self) -> StudyQuerySet:
        return self.filter(status__in=Study.JOINABLE)

    def listed(self) -> StudyQuerySet:
        return self.joinable().filter(is_listed=True)

    def visible_to(self, user: Any) -> StudyQuerySet:
        """Studies whose desk ``user`` may open: own and shared ones, all for operators."""
        if user.is_superuser:
            return self
        return self.filter(members__user=user, members__role__in=StudyMember.DESK_ROLES).distinct()


class Study(models.Model):
    """One study: what people consent to, which activities they do, which seed draws everything."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        PILOT = "pilot", _("pilot")
        SOFT_LAUNCH = "soft_launch", _("soft launch")
        OPEN = "open", _("open")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    JOINABLE = (Status.PILOT, Status.SOFT_LAUNCH, Status.OPEN)

    slug = models.SlugField(_("address"), max_length=60, unique=True)
    title_en = models.CharField(_("title (English)"), max_length=120)
    title_zh = models.CharField(_("title (Chinese)"), max_length=120, blank=True)
    status = models.CharField(_("status"), max_length=20, choices=Status.choices, default=Status.DRAFT)
    languages = models.JSONField(_("judging languages"), default=list)
    activities = models.JSONField(_("activities, in order"), default=list)
    seed = models.BigIntegerField(_("seed"), default=draw_seed)
    time_zone = models.CharField(_("time zone"), max_length=60, default="UTC")
    min_age = models.PositiveSmallIntegerField(_("minimum age"), default=18)
    profile_at = models.CharField(
        _("profile asked at"),
        max_length=5,
        choices=[("start", _("start")), ("end", _("end"))],
        default="start",
    )
    recruiter_params = models.JSONField(
        _("recruiter parameters"),
        default=list,
        blank=True,
        help_text=_(
            "Names of the address parameters to keep, the person's id first, for example PROLIFIC_PID."
        ),
    )
    recruiter_required = models.BooleanField(_("only with a recruiter id"), default=False)
    test_participants = models.BooleanField(_("test participants allowed"), default=False)
    is_listed = models.BooleanField(_("listed on the front page"), default=False)
    host = models.CharField(_("run by"), max_length=200, blank=True)
    approval = models.CharField(_("ethics approval"), max_length=200, blank=True)
    contact = models.EmailField(_("contact"), blank=True)
    erasure_until = models.DateField(_("last date for erasure"), null=True, blank=True)
    soft_launch_n = models.PositiveIntegerField(
        _("people in the soft launch"),
        default=20,
        validators=[MinValueValidator(1)],
        help_text=_("When so many people have done enough to count as done, the study pauses by itself."),
    )
    pay_floor = models.DecimalField(
        _("least pay per hour"),
        max_digits=8,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=_("The desk warns where what people get falls below it. Leave it empty without pay."),
    )
    currency = models.CharField(_("currency"), max_length=10, blank=True)
    notice_en = models.TextField(_("note on the welcome page (English)"), blank=True)
    notice_zh = models.TextField(_("note on the welcome page (Chinese)"), blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    opened_at = models.DateTimeField(_("opened"), null=True, blank=True)
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name = _("study")
        verbose_name_plural = _("studies")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.slug

    @property
    def title(self) -> str:
        return self.in_language("title")

    @property
    def notice(self) -> str:
        return self.in_language("notice")

    def in_language(self, field: str) -> str:
        """``field`` in the interface language, falling back to English."""
        zh = (get_language() or "en").startswith("zh")
        return str((zh and getattr(self, f"{field}_zh")) or getattr(self, f"{field}_en"))


class StudyMember(models.Model):
    """A staff user's part in a study."""

    class Role(models.TextChoices):
        RESEARCHER = "researcher", _("researcher")
        COLLEAGUE = "colleague", _("colleague")
        REVIEWER = "reviewer", _("reviewer")

    DESK_ROLES = (Role.RESEARCHER, Role.COLLEAGUE)

    study = models.ForeignKey(Study, models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=20, choices=Role.choices)

    class Meta:
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="one_role_per_member")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"


class ConsentText(models.Model):
    """One version of what people consent to, in both languages; never edited once somebody agreed to it.

    ``body`` maps interface language → {"summary": [[label, text], …], "sections": [[heading, text], …],
    "debrief": [[heading, text], …], "tagline": text, "welcome": [[label, text], …]}, the last two for the
    welcome page; "of" is the version whose open places were filled in. ``activity``: the people it is for are
    those who do that activity as their own; empty for everybody else. Each counts its own versions.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="consent_texts")
    activity = models.CharField(_("activity"), max_length=40, blank=True, default="")
    version = models.PositiveIntegerField(_("version"))
    body = models.JSONField(_("text"))
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("consent text")
        verbose_name_plural = _("consent texts")
        ordering = ["study", "activity", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "activity", "version"], name="one_consent_text_per_activity_and_version"
            )
        ]

    def __str__(self) -> str:
        return f"{self.study_id} {self.activity} v{self.version}"


class EndState(models.TextChoices):
    """How a participation ended; each has its own pay and its own way back to the recruiter."""

    DONE = "done", _("done")
    SCREENED_OUT = "screened_out", _("screened out")
    FAILED_CHECK = "failed_check", _("failed check")
    TECHNICAL = "technical", _("technical")
    WAITED = "waited", _("waited in vain")
    TIMED_OUT = "timed_out", _("timed out")
    WITHDREW = "withdrew", _("withdrew")
    CANCELLED = "cancelled", _("cancelled by us")


class Completion(models.Model):
    """What a person gets at an end state: a code or a return link, and the pay that goes with it."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="completions")
    end_state = models.CharField(_("end state"), max_length=20, choices=EndState.choices)
    code = models.CharField(_("code"), max_length=60, blank=True)
    link = models.URLField(_("return link"), max_length=500, blank=True)
    amount = models.DecimalField(
        _("pay as a number"),
        max_digits=8,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )
    pay_en = models.CharField(_("pay (English)"), max_length=120, blank=True)
    pay_zh = models.CharField(_("pay (Chinese)"), max_length=120, blank=True)

    class Meta:
        verbose_name = _("completion")
        verbose_name_plural = _("completions")
        constraints = [
            models.UniqueConstraint(fields=["study", "end_state"], name="one_completion_per_end_state")
        ]

    def __str__(self) -> str:
        return self.end_state


class ExportFile(models.Model):
    """An export on disk. Stale once somebody in it withdrew with erasure."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="export_files")
    path = models.CharField(max_length=500)
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    stale_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("export file")
        verbose_name_plural = _("export files")

    def __str__(self) -> str:
        return self.path


class AuditLine(models.Model):
    """Who did what to what, when. Written by services only, never changed; holds no personal data."""

    at = models.DateTimeField(db_index=True)
    study = models.ForeignKey(Study, models.SET_NULL, null=True, blank=True, related_name="audit_lines")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    actor_kind = models.CharField(max_length=12)  # user, participant, system
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=120, blank=True)
    detail = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("audit line")
        verbose_name_plural = _("audit lines")
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"

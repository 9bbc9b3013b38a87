"""Studies, people and raters: fields, constraints, choices, named query sets. No I/O and no rules of order here."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from studies import codes


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
        _("profile asked at"), max_length=5, choices=[("start", _("start")), ("end", _("end"))], default="start"
    )
    recruiter_params = models.JSONField(
        _("recruiter parameters"),
        default=list,
        blank=True,
        help_text=_("Names of the address parameters to keep, the person's id first, for example PROLIFIC_PID."),
    )
    recruiter_required = models.BooleanField(_("only with a recruiter id"), default=False)
    test_participants = models.BooleanField(_("test participants allowed"), default=False)
    is_listed = models.BooleanField(_("listed on the front page"), default=False)
    host = models.CharField(_("run by"), max_length=200, blank=True)
    approval = models.CharField(_("ethics approval"), max_length=200, blank=True)
    contact = models.EmailField(_("contact"), blank=True)
    erasure_until = models.DateField(_("last date for erasure"), null=True, blank=True)
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
    welcome page; "of" is the version whose open places were filled in.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="consent_texts")
    version = models.PositiveIntegerField(_("version"))
    body = models.JSONField(_("text"))
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("consent text")
        verbose_name_plural = _("consent texts")
        ordering = ["study", "-version"]
        constraints = [models.UniqueConstraint(fields=["study", "version"], name="one_consent_text_per_version")]

    def __str__(self) -> str:
        return f"{self.study_id} v{self.version}"


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
    pay_en = models.CharField(_("pay (English)"), max_length=120, blank=True)
    pay_zh = models.CharField(_("pay (Chinese)"), max_length=120, blank=True)

    class Meta:
        verbose_name = _("completion")
        verbose_name_plural = _("completions")
        constraints = [models.UniqueConstraint(fields=["study", "end_state"], name="one_completion_per_end_state")]

    def __str__(self) -> str:
        return self.end_state


class ParticipantQuerySet(models.QuerySet["Participant"]):
    def present(self) -> ParticipantQuerySet:
        """People whose answers may be shown: not withdrawn, not erased."""
        return self.filter(withdrawn_at=None, erased_at=None)


class Participant(models.Model):
    """A person in a study. No name, no address; one row per person and study, whatever they do in it."""

    class State(models.TextChoices):
        INVITED = "invited", _("invited")
        CONSENTED = "consented", _("consented")
        ACTIVE = "active", _("active")
        COMPLETED = "completed", _("completed")
        SCREENED_OUT = "screened_out", _("screened out")
        WITHDRAWN = "withdrawn", _("withdrawn")

    study = models.ForeignKey(Study, models.PROTECT, related_name="participants")
    code = models.CharField(_("code"), max_length=20, unique=True, default=codes.participant_code)
    resume_code = models.CharField(max_length=20, unique=True, default=codes.resume_code)
    receipt_code = models.CharField(max_length=20, unique=True, default=codes.receipt_code)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="participations"
    )
    state = models.CharField(_("state"), max_length=20, choices=State.choices, default=State.INVITED)
    end_state = models.CharField(_("end state"), max_length=20, choices=EndState.choices, blank=True)
    interface_language = models.CharField(_("interface language"), max_length=10, default="en")
    judging_language = models.CharField(_("judging language"), max_length=5, choices=Language.choices, blank=True)
    recruiter = models.JSONField(_("recruiter ids"), default=dict, blank=True)
    recruiter_key = models.CharField(_("recruiter's person id"), max_length=200, blank=True)
    source = models.CharField(_("source tag"), max_length=60, blank=True)
    nickname = models.CharField(_("nickname"), max_length=24, blank=True)
    nickname_key = models.CharField(max_length=100, blank=True)  # look-alikes share one key
    is_pilot = models.BooleanField(_("pilot"), default=False)
    is_test = models.BooleanField(_("test participant"), default=False)
    device_class = models.CharField(_("device class"), max_length=10, blank=True)
    joined_at = models.DateTimeField(_("joined"))
    consented_at = models.DateTimeField(_("consented"), null=True, blank=True)
    completed_at = models.DateTimeField(_("completed"), null=True, blank=True)
    withdrawn_at = models.DateTimeField(_("withdrawn"), null=True, blank=True)
    erased_at = models.DateTimeField(_("erased"), null=True, blank=True)

    objects = ParticipantQuerySet.as_manager()

    class Meta:
        verbose_name = _("participant")
        verbose_name_plural = _("participants")
        ordering = ["-joined_at"]
        indexes = [models.Index(fields=["study", "state"])]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "recruiter_key"],
                condition=~Q(recruiter_key=""),
                name="one_participant_per_recruited_person",
            ),
            models.UniqueConstraint(
                fields=["study", "nickname_key"], condition=~Q(nickname_key=""), name="nicknames_do_not_look_alike"
            ),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def is_gone(self) -> bool:
        return self.withdrawn_at is not None or self.erased_at is not None


class Consent(models.Model):
    """What a participant agreed to, and when; the hash proves which words they saw."""

    participant = models.OneToOneField(Participant, models.CASCADE, related_name="consent")
    text = models.ForeignKey(ConsentText, models.PROTECT, related_name="consents")
    sha256 = models.CharField(max_length=64)
    language = models.CharField(max_length=10)
    publish_text = models.BooleanField(_("free text may be published"), default=False)
    contact_again = models.BooleanField(_("may be contacted again"), default=False)
    given_at = models.DateTimeField()

    class Meta:
        verbose_name = _("consent")
        verbose_name_plural = _("consents")

    def __str__(self) -> str:
        return f"{self.participant_id} {self.given_at:%Y-%m-%d}"


class TurnedAway(models.Model):
    """A daily count of visitors who went no further. Nothing about the person is stored."""

    class Reason(models.TextChoices):
        UNDER_AGE = "under_age", _("under age")
        CONSENT_REFUSED = "consent_refused", _("consent refused")
        NO_RECRUITER_ID = "no_recruiter_id", _("no recruiter id")
        CLOSED = "closed", _("study closed")

    study = models.ForeignKey(Study, models.CASCADE, related_name="turned_away")
    day = models.DateField()
    reason = models.CharField(max_length=20, choices=Reason.choices)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("turned away")
        verbose_name_plural = _("turned away")
        constraints = [models.UniqueConstraint(fields=["study", "day", "reason"], name="one_count_per_day_and_reason")]

    def __str__(self) -> str:
        return f"{self.day} {self.reason} {self.count}"


class MachineConfig(models.Model):
    """A machine rater's frozen parameters; changed parameters make a new row, so a new rater."""

    name = models.CharField(max_length=120)
    parameters = models.JSONField(default=dict)
    sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("machine configuration")
        verbose_name_plural = _("machine configurations")

    def __str__(self) -> str:
        return self.name


class Rater(models.Model):
    """The common root of people and machines: exactly one of participant, staff user, machine."""

    participant = models.OneToOneField(Participant, models.CASCADE, null=True, blank=True, related_name="rater")
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="rater"
    )
    machine = models.OneToOneField(MachineConfig, models.PROTECT, null=True, blank=True, related_name="rater")

    class Meta:
        verbose_name = _("rater")
        verbose_name_plural = _("raters")
        constraints = [
            models.CheckConstraint(
                name="rater_is_exactly_one",
                condition=(
                    Q(participant__isnull=False, user__isnull=True, machine__isnull=True)
                    | Q(participant__isnull=True, user__isnull=False, machine__isnull=True)
                    | Q(participant__isnull=True, user__isnull=True, machine__isnull=False)
                ),
            )
        ]

    def __str__(self) -> str:
        return str(self.participant or self.user or self.machine)


class Questionnaire(models.Model):
    """A versioned set of questions: the profile, surveys after an activity. A new version is a new row.

    ``questions``: list of {"key", "kind": single|multi|scale|text, "required": bool, "text": {"en", "zh"},
    "hint"?: {…}, "options": [{"value", "label": {"en", "zh"}}], "max_length"?: int}.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="questionnaires")
    key = models.SlugField(_("key"), max_length=40)
    version = models.PositiveIntegerField(_("version"), default=1)
    title_en = models.CharField(_("title (English)"), max_length=120)
    title_zh = models.CharField(_("title (Chinese)"), max_length=120, blank=True)
    questions = models.JSONField(_("questions"))
    is_current = models.BooleanField(default=True)

    class Meta:
        verbose_name = _("questionnaire")
        verbose_name_plural = _("questionnaires")
        constraints = [
            models.UniqueConstraint(fields=["study", "key", "version"], name="one_questionnaire_per_version"),
            models.UniqueConstraint(
                fields=["study", "key"], condition=Q(is_current=True), name="one_current_questionnaire_per_key"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} v{self.version}"


class Answer(models.Model):
    """One answer, with the scale it was given on."""

    rater = models.ForeignKey(Rater, models.CASCADE, related_name="answers")
    questionnaire = models.ForeignKey(Questionnaire, models.PROTECT, related_name="answers")
    question = models.CharField(max_length=40)
    value = models.JSONField()
    scale = models.JSONField(default=list)
    language = models.CharField(max_length=10)
    answered_at = models.DateTimeField()

    class Meta:
        verbose_name = _("answer")
        verbose_name_plural = _("answers")
        constraints = [
            models.UniqueConstraint(fields=["rater", "questionnaire", "question"], name="one_answer_per_question")
        ]

    def __str__(self) -> str:
        return self.question


class AuditLine(models.Model):
    """Who did what to what, when. Written by services only, never changed; holds no personal data."""

    at = models.DateTimeField(db_index=True)
    study = models.ForeignKey(Study, models.SET_NULL, null=True, blank=True, related_name="audit_lines")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
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

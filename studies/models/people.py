"""Participants and raters: who takes part, what they agreed to, the common root of people and machines."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies import codes
from studies.models.study import ConsentText, EndState, Language, Study


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
    judging_language = models.CharField(
        _("judging language"), max_length=5, choices=Language.choices, blank=True
    )
    # What this person does where it is not what the study has for everybody: those invited to annotate.
    activities = models.JSONField(_("activities of their own"), default=list, blank=True)
    recruiter = models.JSONField(_("recruiter ids"), default=dict, blank=True)
    recruiter_key = models.CharField(_("recruiter's person id"), max_length=200, blank=True)
    source = models.CharField(_("source tag"), max_length=60, blank=True)
    nickname = models.CharField(_("nickname"), max_length=24, blank=True)
    nickname_key = models.CharField(max_length=100, blank=True)  # look-alikes share one key
    is_pilot = models.BooleanField(_("pilot"), default=False)
    is_test = models.BooleanField(_("test participant"), default=False)
    in_soft_launch = models.BooleanField(_("one of the soft launch"), default=False)
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
                fields=["study", "nickname_key"],
                condition=~Q(nickname_key=""),
                name="nicknames_do_not_look_alike",
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
        constraints = [
            models.UniqueConstraint(fields=["study", "day", "reason"], name="one_count_per_day_and_reason")
        ]

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

    participant = models.OneToOneField(
        Participant, models.CASCADE, null=True, blank=True, related_name="rater"
    )
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

"""The waiting room, games, votes and eliminations."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from dialogues.models import Dialogue
from games.group.models.settings import Agent
from games.room.models import Room, Seat
from studies import codes
from studies.models import Language, Participant, Questionnaire, Study


class Ticket(models.Model):
    """Somebody in the waiting room. What is shown of it is counted from these rows."""

    class State(models.TextChoices):
        WAITING = "waiting", pgettext_lazy("group game", "waiting")
        READY = "ready", _("ready")
        SEATED = "seated", _("seated")
        LEFT = "left", pgettext_lazy("group game", "left")

    OPEN = (State.WAITING, State.READY)

    study = models.ForeignKey(Study, models.CASCADE, related_name="tickets")
    participant = models.ForeignKey(Participant, models.CASCADE, related_name="tickets")
    language = models.CharField(_("language"), max_length=5, choices=Language.choices)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.WAITING)
    joined_at = models.DateTimeField(_("came"))
    ready_at = models.DateTimeField(_("ready"), null=True, blank=True)
    seen_at = models.DateTimeField(_("last seen"))
    patience_until = models.DateTimeField(_("asked whether to go on waiting"))
    closed_at = models.DateTimeField(_("waited until"), null=True, blank=True)
    room = models.ForeignKey(Room, models.SET_NULL, null=True, blank=True, related_name="tickets")

    class Meta:
        verbose_name = _("person waiting")
        verbose_name_plural = _("people waiting")
        ordering = ["joined_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["participant"],
                condition=Q(state__in=["waiting", "ready"]),
                name="one_open_ticket_per_person",
            )
        ]
        indexes = [models.Index(fields=["study", "language", "state"], name="tickets_by_language")]

    def __str__(self) -> str:
        return f"{self.participant_id} {self.state}"


class Game(models.Model):
    """One group game: a room with people and one agent. ``rules``: the settings it was started with."""

    class End(models.TextChoices):
        NOT = "", _("being played")
        AGENT_OUT = "agent_out", _("the AI was voted out")
        SURVIVED = "survived", _("the AI survived")
        ABANDONED = "abandoned", _("too few people left")
        CANCELLED = "cancelled", _("cancelled")

    #: Ends that count in the reports.
    PLAYED = (End.AGENT_OUT, End.SURVIVED)

    class Source(models.TextChoices):
        PLAYED = "played", _("played here")
        IMPORTED = "imported", _("imported")

    study = models.ForeignKey(Study, models.PROTECT, related_name="group_games")
    room = models.OneToOneField(Room, models.PROTECT, related_name="group_game")
    code = models.CharField(_("code"), max_length=20, unique=True, default=codes.public_code)
    number = models.PositiveIntegerField(pgettext_lazy("group game", "number"))
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, blank=True, related_name="games")
    rules = models.JSONField(_("rules"), default=dict)
    people = models.PositiveSmallIntegerField(_("people"))
    end = models.CharField(pgettext_lazy("group game", "end"), max_length=10, choices=End.choices, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    source = models.CharField(_("source"), max_length=10, choices=Source.choices, default=Source.PLAYED)
    external_id = models.CharField(_("id where it came from"), max_length=120, blank=True)
    questionnaire = models.ForeignKey(
        Questionnaire, models.PROTECT, null=True, blank=True, related_name="group_games"
    )
    dialogue = models.OneToOneField(
        Dialogue, models.SET_NULL, null=True, blank=True, related_name="group_game"
    )
    # Which runner plays the agent, and until when nobody else may.
    agent_claim = models.CharField(max_length=40, blank=True)
    agent_lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("group game")
        verbose_name_plural = _("group games")
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="one_group_game_per_number"),
            models.UniqueConstraint(
                fields=["study", "external_id"],
                condition=~Q(external_id=""),
                name="one_group_game_per_external_id",
            ),
            models.CheckConstraint(
                name="a_game_that_ended_says_when",
                condition=(Q(end="") & Q(ended_at=None)) | (~Q(end="") & Q(ended_at__isnull=False)),
            ),
        ]
        indexes = [
            models.Index(fields=["agent_lease_until"], condition=Q(end=""), name="played_games_by_lease")
        ]

    def __str__(self) -> str:
        return f"{self.study_id} #{self.number}"


class Vote(models.Model):
    """One seat's vote in one round; no target: the person chose to abstain."""

    game = models.ForeignKey(Game, models.CASCADE, related_name="votes")
    round = models.PositiveSmallIntegerField(_("round"))
    voter = models.ForeignKey(Seat, models.CASCADE, related_name="votes")
    target = models.ForeignKey(Seat, models.CASCADE, null=True, blank=True, related_name="votes_against")
    at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("vote")
        verbose_name_plural = _("votes")
        ordering = ["game", "round", "at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["voter", "round"], name="one_vote_per_seat_and_round"),
            models.CheckConstraint(
                name="nobody_votes_for_themselves", condition=Q(target=None) | ~Q(target=F("voter"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.voter_id} → {self.target_id}"


class Elimination(models.Model):
    """Who went out in a round and how it was decided. ``draw``: seed and outcome where there was a tie."""

    game = models.ForeignKey(Game, models.CASCADE, related_name="eliminations")
    round = models.PositiveSmallIntegerField(_("round"))
    seat = models.OneToOneField(Seat, models.CASCADE, related_name="elimination")
    living = models.PositiveSmallIntegerField(_("players in the round"))
    tally = models.JSONField(_("votes"), default=dict)  # seat code → votes
    tied = models.JSONField(_("tied"), default=list)  # seat codes, in the order they were drawn from
    draw = models.JSONField(_("draw"), default=dict, blank=True)
    at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("elimination")
        verbose_name_plural = _("eliminations")
        ordering = ["game", "round"]
        constraints = [models.UniqueConstraint(fields=["game", "round"], name="one_elimination_per_round")]

    def __str__(self) -> str:
        return f"{self.game_id} {self.round}"


class BotCall(models.Model):
    """Bots asked for to fill empty seats, in one study and language; a runner claims it (compare-and-set)."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    study = models.ForeignKey(Study, models.CASCADE, related_name="bot_calls")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    language = models.CharField(_("language"), max_length=5, choices=Language.choices)
    bots = models.PositiveSmallIntegerField(_("bots"))
    seed = models.BigIntegerField(_("seed"))
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    claim = models.CharField(max_length=40, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    findings = models.JSONField(_("found wrong"), default=list, blank=True)
    created_at = models.DateTimeField(_("asked for"))
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        verbose_name = _("call for bots")
        verbose_name_plural = _("calls for bots")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.study_id} {self.bots}"

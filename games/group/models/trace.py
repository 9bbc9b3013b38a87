"""What the agent did and why: every turn of its loop, its candidates, notes and calls. Researchers only."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from games.group.models.playing import Game
from games.room.models import Event


class AgentStep(models.Model):
    """One turn of the agent's loop: SEND or WAIT, what it chose, what became of it."""

    class Decision(models.TextChoices):
        WAIT = "wait", _("wait")
        SEND = "send", _("send")
        VOTE = "vote", _("vote")

    class Outcome(models.TextChoices):
        WAITED = "waited", _("waited")
        SENT = "sent", _("sent")
        VOTED = "voted", _("voted")
        NOTHING = "nothing", _("nothing to say")  # no candidate, or the reviewer took none
        DROPPED = "dropped", _("dropped")  # the talk had moved on
        FILTERED = "filtered", _("stopped by the filter")
        REFUSED = "refused", _("refused by the room")
        FAILED = "failed", _("failed")  # the thinking broke; the agent stays silent
        CUT = "cut", _("cut off")  # the process stopped in the middle

    game = models.ForeignKey(Game, models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField(pgettext_lazy("group game", "number"))
    round = models.PositiveSmallIntegerField(_("round"))
    phase = models.CharField(_("phase"), max_length=20)
    after_seq = models.PositiveIntegerField(_("had read up to"))
    decision = models.CharField(_("decision"), max_length=5, choices=Decision.choices, blank=True)
    reason = models.TextField(_("reason"), blank=True)
    review = models.TextField(_("review"), blank=True)
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome.choices, blank=True)
    why = models.CharField(_("why"), max_length=200, blank=True)  # it was dropped, stopped, refused or failed
    notes = models.JSONField(_("notes read"), default=dict, blank=True)  # worker → id of the note
    thinking_seconds = models.FloatField(_("seconds of thinking"), null=True, blank=True)
    typing_seconds = models.FloatField(_("seconds of typing"), null=True, blank=True)
    client_id = models.CharField(max_length=40, blank=True)  # under which the message is sent, once
    event = models.OneToOneField(Event, models.SET_NULL, null=True, blank=True, related_name="agent_step")
    started_at = models.DateTimeField(_("started"))
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        verbose_name = _("step of the agent")
        verbose_name_plural = _("steps of the agent")
        ordering = ["game", "number"]
        constraints = [
            models.UniqueConstraint(fields=["game", "number"], name="one_agent_step_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.game_id} #{self.number}"


class Candidate(models.Model):
    """A message the agent could have sent, with the purpose it was written for."""

    step = models.ForeignKey(AgentStep, models.CASCADE, related_name="candidates")
    position = models.PositiveSmallIntegerField(_("position"))
    purpose = models.CharField(_("purpose"), max_length=80)
    text = models.TextField(_("text"))
    chosen = models.BooleanField(_("chosen"), default=False)
    verdict = models.CharField(_("what the reviewer said"), max_length=500, blank=True)

    class Meta:
        verbose_name = _("candidate")
        verbose_name_plural = _("candidates")
        ordering = ["step", "position"]
        constraints = [
            models.UniqueConstraint(fields=["step", "position"], name="one_candidate_per_position"),
            models.UniqueConstraint(
                fields=["step"], condition=models.Q(chosen=True), name="one_chosen_candidate"
            ),
        ]

    def __str__(self) -> str:
        return self.purpose


class AgentNote(models.Model):
    """A result of one background worker, as written to the shared notes; the newest finished one is read."""

    game = models.ForeignKey(Game, models.CASCADE, related_name="notes")
    worker = models.CharField(_("worker"), max_length=40)
    value = models.JSONField(_("result"), default=dict)
    after_seq = models.PositiveIntegerField(_("had read up to"), default=0)
    failure = models.CharField(_("what failed"), max_length=500, blank=True)
    started_at = models.DateTimeField(_("started"))
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        verbose_name = _("note of the agent")
        verbose_name_plural = _("notes of the agent")
        ordering = ["game", "id"]
        indexes = [models.Index(fields=["game", "worker", "finished_at"], name="notes_by_worker")]

    def __str__(self) -> str:
        return self.worker


class AgentCall(models.Model):
    """One call to a model, for a step or for a worker's note. No texts: the hash names the prompt."""

    step = models.ForeignKey(AgentStep, models.CASCADE, null=True, blank=True, related_name="calls")
    note = models.ForeignKey(AgentNote, models.CASCADE, null=True, blank=True, related_name="calls")
    purpose = models.CharField(_("purpose"), max_length=20)  # scheduler, generator, reviewer, vote, worker
    model = models.CharField(_("model"), max_length=120)
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    tokens_in = models.PositiveIntegerField(_("tokens in"), null=True, blank=True)
    tokens_out = models.PositiveIntegerField(_("tokens out"), null=True, blank=True)
    seconds = models.FloatField(_("seconds"), null=True, blank=True)
    failure = models.CharField(_("what failed"), max_length=500, blank=True)
    at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("call of the agent")
        verbose_name_plural = _("calls of the agent")
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                name="a_call_is_for_a_step_or_a_note",
                condition=models.Q(step__isnull=False, note__isnull=True)
                | models.Q(step__isnull=True, note__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.model}"

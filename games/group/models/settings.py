"""How a study plays the group game, and the agents it may choose from."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from studies.models import MachineConfig, Study


class Agent(models.Model):
    """One version of an agent as data: who thinks, with which prompts, workers and delays. Never edited.

    ``thinking`` names the code that decides (``offline``, later a language model). ``told_*`` is what the
    debrief says of its instructions.
    """

    key = models.SlugField(_("key"), max_length=40)
    version = models.PositiveIntegerField(_("version"), default=1)
    name = models.CharField(_("name"), max_length=120)
    thinking = models.CharField(_("thinking"), max_length=20)
    model = models.CharField(_("model"), max_length=120, blank=True)
    prompts = models.JSONField(_("prompts"), default=dict, blank=True)
    workers = models.JSONField(_("workers"), default=list, blank=True)
    delays = models.JSONField(_("delays"), default=dict, blank=True)
    parameters = models.JSONField(_("parameters"), default=dict, blank=True)
    told_en = models.TextField(_("what it was told (English)"), blank=True)
    told_zh = models.TextField(_("what it was told (Chinese)"), blank=True)
    sha256 = models.CharField(max_length=64, unique=True)
    machine = models.OneToOneField(MachineConfig, models.PROTECT, related_name="agent")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        ordering = ["key", "-version"]
        constraints = [models.UniqueConstraint(fields=["key", "version"], name="one_agent_per_version")]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class GroupSettings(models.Model):
    """How one study plays. Group size and talking time are the published ones; other defaults are ours."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="group")
    people = models.PositiveSmallIntegerField(
        _("people in a game"), default=5, validators=[MinValueValidator(2), MaxValueValidator(12)]
    )
    least_people = models.PositiveSmallIntegerField(
        _("people a game may start with"), default=4, validators=[MinValueValidator(2), MaxValueValidator(12)]
    )
    start_after = models.PositiveSmallIntegerField(
        _("seconds to wait for more people once there are enough"), default=60
    )
    wait_minutes = models.PositiveSmallIntegerField(
        _("minutes until somebody who waits is asked"), default=10, validators=[MinValueValidator(1)]
    )
    discussion_seconds = models.PositiveSmallIntegerField(
        _("seconds to talk"), default=150, validators=[MinValueValidator(10)]
    )
    vote_seconds = models.PositiveSmallIntegerField(
        _("seconds to vote"), default=45, validators=[MinValueValidator(5)]
    )
    reveal_seconds = models.PositiveSmallIntegerField(_("seconds between rounds"), default=8)
    topic_en = models.CharField(_("opening topic (English)"), max_length=200, blank=True)
    topic_zh = models.CharField(_("opening topic (Chinese)"), max_length=200, blank=True)
    agent_votes = models.BooleanField(_("the agent votes"), default=True)
    show_tallies = models.BooleanField(_("show the tallies"), default=False)
    spectators = models.BooleanField(_("who is out may watch"), default=True)
    abstain_button = models.BooleanField(_("button to abstain"), default=False)
    typing_indicator = models.BooleanField(_("show who is typing"), default=False)
    play_once = models.BooleanField(_("each person plays once"), default=True)
    least_present = models.PositiveSmallIntegerField(
        _("people who must be there"), default=2, validators=[MinValueValidator(1)]
    )
    gone_after = models.PositiveSmallIntegerField(
        _("seconds unseen until somebody counts as gone"), default=180, validators=[MinValueValidator(30)]
    )
    max_length = models.PositiveSmallIntegerField(
        _("longest message"), default=500, validators=[MinValueValidator(20), MaxValueValidator(5000)]
    )
    rate_count = models.PositiveSmallIntegerField(
        _("messages at once"), default=5, validators=[MinValueValidator(1)]
    )
    rate_seconds = models.PositiveSmallIntegerField(
        _("within so many seconds"), default=10, validators=[MinValueValidator(1)]
    )
    # Where test participants are allowed: bots take the empty seats after so many seconds. None: never.
    bots_after = models.PositiveSmallIntegerField(
        _("seconds until bots take the empty seats"), null=True, blank=True
    )
    agents = models.ManyToManyField(Agent, related_name="studies", blank=True, verbose_name=_("agents"))

    class Meta:
        verbose_name = _("group game settings")
        verbose_name_plural = _("group game settings")

    def __str__(self) -> str:
        return str(self.study)

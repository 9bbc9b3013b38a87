"""The speech game's rows: settings, players, rounds, trials, checks. Rules of order are in services."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from dialogues.models import Choice, Dialogue, Exposure, Nature, Topic, Verdict
from studies import codes
from studies.models import Language, Participant, Study


class SpeechSettings(models.Model):
    """How one study plays the game. Defaults are the protocol's."""

    class Mix(models.TextChoices):
        HALF = "half", _("half human, machine half split evenly")
        PUBLISHED = "published", _("a third each")

    class Reveal(models.TextChoices):
        AFTER_ROUND = "after_round", _("after the round")
        AFTER_ITEM = "after_item", _("after each dialogue")
        NEVER = "never", _("never")

    class Points(models.TextChoices):
        BEYOND_HALF = "beyond_half", _("10 a round, 10 per right verdict beyond half")
        ACCURACY = "accuracy", _("by accuracy")

    study = models.OneToOneField(Study, models.CASCADE, related_name="speech")
    round_size = models.PositiveSmallIntegerField(
        _("dialogues in a round"), default=5, validators=[MinValueValidator(1), MaxValueValidator(20)]
    )
    mix = models.CharField(_("mix"), max_length=10, choices=Mix.choices, default=Mix.HALF)
    reveal = models.CharField(_("reveal"), max_length=12, choices=Reveal.choices, default=Reveal.AFTER_ROUND)
    show_system = models.BooleanField(_("say what the system was"), default=True)
    points = models.CharField(_("points"), max_length=12, choices=Points.choices, default=Points.BEYOND_HALF)
    leaderboard = models.BooleanField(_("leaderboard"), default=True)
    max_rounds = models.PositiveSmallIntegerField(_("rounds per person, 0 for no limit"), default=0)
    lease_minutes = models.PositiveSmallIntegerField(
        _("minutes until an abandoned dialogue counts as free"), default=30, validators=[MinValueValidator(1)]
    )
    ask_confidence = models.BooleanField(_("ask for confidence"), default=False)
    ask_reason = models.BooleanField(_("ask for a reason"), default=False)
    content_checks = models.PositiveSmallIntegerField(_("content checks per session"), default=3)
    attention_checks = models.PositiveSmallIntegerField(_("spoken instructions per session"), default=1)
    sound_check = models.BooleanField(_("sound check"), default=True)
    margin = models.FloatField(_("equivalence margin"), default=0.10)

    class Meta:
        verbose_name = _("speech game settings")
        verbose_name_plural = _("speech game settings")

    def __str__(self) -> str:
        return str(self.study)


class SpeechPlayer(models.Model):
    """What the game keeps about a participant: drawn once, or counted."""

    participant = models.OneToOneField(Participant, models.CASCADE, related_name="speech")
    human_left = models.BooleanField(_("human button left"))
    sound_word = models.CharField(max_length=20, blank=True)  # id of the word now asked for
    sound_tries = models.PositiveSmallIntegerField(_("sound check tries"), default=0)
    sound_passed = models.BooleanField(_("sound check passed"), null=True, blank=True)
    checks_asked = models.PositiveSmallIntegerField(_("content checks asked"), default=0)
    checks_failed = models.PositiveSmallIntegerField(_("checks failed"), default=0)  # of either sort
    keys_off = models.BooleanField(_("keys switched off"), default=False)

    class Meta:
        verbose_name = _("player")
        verbose_name_plural = _("players")

    def __str__(self) -> str:
        return str(self.participant_id)


class Round(models.Model):
    """Up to ``round_size`` scored trials in one go."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        FINISHED = "finished", _("finished")

    player = models.ForeignKey(SpeechPlayer, models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField(_("number"))
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.OPEN)
    language = models.CharField(_("language"), max_length=5, choices=Language.choices)
    for_fun = models.BooleanField(_("for fun"), default=False)
    answered = models.PositiveSmallIntegerField(_("answers"), default=0)
    correct = models.PositiveSmallIntegerField(_("right verdicts"), default=0)
    points = models.PositiveIntegerField(_("points"), default=0)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)  # the reveal was shown

    class Meta:
        verbose_name = _("round")
        verbose_name_plural = _("rounds")
        constraints = [
            models.UniqueConstraint(fields=["player", "number"], name="one_round_per_number"),
            models.UniqueConstraint(
                fields=["player"], condition=Q(state="open"), name="one_open_round_per_player"
            ),
        ]
        indexes = [models.Index(fields=["state", "language", "finished_at"])]

    def __str__(self) -> str:
        return f"{self.player_id} #{self.number}"


class Standing(models.Model):
    """A player's sums over finished rounds that count, as the leaderboard ranks them: one row for every board
    the player is on. Kept by ``services.scoring``; all of it can be made again from the rounds.
    """

    ALL = "all"  # both languages, or all time

    study = models.ForeignKey(Study, models.CASCADE, related_name="+")
    player = models.ForeignKey(SpeechPlayer, models.CASCADE, related_name="standings")
    language = models.CharField(max_length=5)  # a judging language, or all
    period = models.CharField(max_length=10)  # a day of the study's time zone in ISO 8601, or all
    shown = models.BooleanField(default=True)  # False: a pilot or a test, whom nobody else sees
    points = models.PositiveIntegerField()
    per_cent = models.PositiveSmallIntegerField()  # right answers
    rounds = models.PositiveIntegerField()
    reached_at = models.DateTimeField()  # the last of these rounds was finished

    class Meta:
        verbose_name = _("standing")
        verbose_name_plural = _("standings")
        constraints = [
            models.UniqueConstraint(
                fields=["player", "language", "period"], name="one_standing_per_player_and_board"
            )
        ]
        # In the order of the board, so that its top and a person's rank are read off the index.
        indexes = [
            models.Index(
                fields=["study", "language", "period", "-points", "reached_at", "player"],
                condition=Q(shown=True),
                name="board_by_points",
            ),
            models.Index(
                fields=["study", "language", "period", "-per_cent", "reached_at", "player"],
                condition=Q(shown=True),
                name="board_by_accuracy",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.player_id} {self.language} {self.period}"


class Trial(models.Model):
    """One dialogue put to one player. ``draw`` holds all that decided it: seed, counter, weights and more."""

    class State(models.TextChoices):
        DRAWN = "drawn", _("drawn")  # waits behind the current one, its sound may be preloaded
        CURRENT = "current", _("current")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")  # the sound failed; replaced, no verdict

    class Gate(models.TextChoices):
        LOCKED = "", _("locked")
        ENDED = "ended", _("heard to the end")
        COVERED = "covered", _("heard 97 %")
        TIMEOUT = "timeout", _("waited long enough")

    round = models.ForeignKey(Round, models.CASCADE, related_name="trials")
    position = models.PositiveSmallIntegerField(_("position"))
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    code = models.CharField(max_length=20, unique=True, default=codes.public_code)
    # The answer that a spoken instruction asks for; empty for scored trials. A check stands before the scored
    # trial of the same position and looks like it.
    expected = models.CharField(_("answer asked for"), max_length=8, choices=Nature.choices, blank=True)
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="speech_trials")
    exposure = models.ForeignKey(Exposure, models.PROTECT, related_name="speech_trials")
    verdict = models.OneToOneField(
        Verdict, models.SET_NULL, null=True, blank=True, related_name="speech_trial"
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.DRAWN)
    draw = models.JSONField(_("draw"), default=dict)
    drawn_at = models.DateTimeField()
    lease_until = models.DateTimeField()
    served_at = models.DateTimeField(null=True, blank=True)
    first_play_at = models.DateTimeField(null=True, blank=True)
    unlocked_at = models.DateTimeField(null=True, blank=True)
    gate = models.CharField(_("gate"), max_length=8, choices=Gate.choices, blank=True)
    ranges = models.JSONField(default=list)  # union of played stretches, seconds
    heard = models.FloatField(_("heard fraction"), default=0)
    plays = models.PositiveSmallIntegerField(default=0)
    pauses = models.PositiveSmallIntegerField(default=0)
    hidden_seconds = models.FloatField(default=0)
    known = models.BooleanField(_("recording known"), default=False)
    # Also kept where no verdict row may be: a dialogue judged before, met again for fun.
    answer = models.CharField(_("answer"), max_length=10, choices=Choice.choices, blank=True)
    failure = models.CharField(_("what failed"), max_length=40, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("trial")
        verbose_name_plural = _("trials")
        ordering = ["round", "position", "attempt"]
        constraints = [
            models.UniqueConstraint(
                fields=["round", "position", "attempt"],
                condition=Q(expected=""),
                name="one_trial_per_place_and_attempt",
            ),
            models.UniqueConstraint(
                fields=["round"], condition=~Q(expected=""), name="one_spoken_instruction_per_round"
            ),
            models.UniqueConstraint(
                fields=["round"], condition=Q(state="current"), name="one_current_trial_per_round"
            ),
            models.UniqueConstraint(
                fields=["round", "position"],
                condition=~Q(state="failed") & Q(expected=""),
                name="one_live_trial_per_place",
            ),
        ]
        indexes = [
            models.Index(fields=["dialogue", "state", "lease_until"]),
            models.Index(fields=["state", "lease_until"]),  # live leases, counted at every draw
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def is_check(self) -> bool:
        """Whether it is a spoken instruction, outside the scored trials."""
        return bool(self.expected)


class ContentCheck(models.Model):
    """“What did they talk about?” after a verdict, outside the scored trials."""

    trial = models.OneToOneField(Trial, models.CASCADE, related_name="check_asked")
    code = models.CharField(max_length=20, unique=True, default=codes.public_code)
    options = models.ManyToManyField(Topic, related_name="+")
    order = models.JSONField(default=list)  # topic ids as shown
    correct = models.ForeignKey(Topic, models.PROTECT, related_name="+")
    chosen = models.ForeignKey(Topic, models.PROTECT, null=True, blank=True, related_name="+")
    asked_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("content check")
        verbose_name_plural = _("content checks")

    def __str__(self) -> str:
        return self.code

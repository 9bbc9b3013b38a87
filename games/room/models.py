"""A live room's rows: the room and its clock, its seats, its numbered log. Rules of order are in services."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from dialogues.models import Nature
from studies import codes
from studies.models import Language, Participant, Rater, Study


class RoomQuerySet(models.QuerySet["Room"]):
    def live(self) -> RoomQuerySet:
        """Rooms in which something may still happen."""
        return self.filter(closed_at=None)


class Room(models.Model):
    """People and machines at one table. ``game`` names whose rules it follows (``games.room.rules``).

    The clock is here: a phase ends at ``deadline`` (None: when the rules say so), whoever notices first moves
    on. ``phase_number`` grows by one with every phase, so that a phase is ended once. ``last_seq`` is the
    number of the newest line of the log; it grows under the row's lock, so the log has no gaps.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="rooms")
    code = models.CharField(_("code"), max_length=20, unique=True, default=codes.public_code)
    game = models.CharField(max_length=20)
    language = models.CharField(_("language"), max_length=5, choices=Language.choices)
    seed = models.BigIntegerField(_("seed"))
    phase = models.CharField(_("phase"), max_length=20)
    phase_number = models.PositiveIntegerField(default=1)
    round = models.PositiveSmallIntegerField(_("round"), default=1)
    writable = models.BooleanField(_("people may write"), default=False)
    phase_started_at = models.DateTimeField()
    deadline = models.DateTimeField(_("the phase ends"), null=True, blank=True)
    last_seq = models.PositiveIntegerField(_("lines"), default=0)
    # The rules of this room's messages, fixed when it opens.
    max_length = models.PositiveSmallIntegerField(_("longest message"), default=500)
    rate_count = models.PositiveSmallIntegerField(_("messages at once"), default=5)
    rate_seconds = models.PositiveSmallIntegerField(_("within so many seconds"), default=10)
    typing = models.BooleanField(_("show who is typing"), default=False)
    is_test = models.BooleanField(_("test"), default=False)
    is_preview = models.BooleanField(_("preview"), default=False)  # all seats are opened by one researcher
    opened_at = models.DateTimeField(_("opened"))
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    objects = RoomQuerySet.as_manager()

    class Meta:
        verbose_name = _("room")
        verbose_name_plural = _("rooms")
        ordering = ["-opened_at"]
        constraints = [
            models.CheckConstraint(
                name="a_closed_room_takes_no_message", condition=Q(closed_at=None) | Q(writable=False)
            )
        ]
        indexes = [models.Index(fields=["deadline"], condition=Q(closed_at=None), name="rooms_by_deadline")]

    def __str__(self) -> str:
        return self.code


class SeatQuerySet(models.QuerySet["Seat"]):
    def living(self) -> SeatQuerySet:
        """Those nobody voted out."""
        return self.filter(out_at=None)


class Seat(models.Model):
    """A place at the table under a pseudonym. Order, name and time of sitting down say nothing of who it is.

    ``out_*``: voted out. ``left_*``: the person is gone (researchers see it, players never do).
    ``seen_at``: the last sign of an open page; kept to some seconds.
    """

    class Left(models.TextChoices):
        NOT = "", _("here")
        LEFT = "left", _("left")
        GONE = "gone", _("not seen any more")
        WITHDREW = "withdrew", _("withdrew")
        REMOVED = "removed", _("removed by staff")

    room = models.ForeignKey(Room, models.CASCADE, related_name="seats")
    code = models.CharField(_("code"), max_length=20, unique=True, default=codes.public_code)
    position = models.PositiveSmallIntegerField(_("position"))
    pseudonym = models.CharField(_("pseudonym"), max_length=40)
    nature = models.CharField(_("nature"), max_length=8, choices=Nature.choices)
    participant = models.ForeignKey(
        Participant,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="seats",
        verbose_name=_("participant"),
    )
    rater = models.ForeignKey(Rater, models.SET_NULL, null=True, blank=True, related_name="seats")
    out_at = models.DateTimeField(_("voted out"), null=True, blank=True)
    out_round = models.PositiveSmallIntegerField(_("voted out in round"), null=True, blank=True)
    left_at = models.DateTimeField(_("left"), null=True, blank=True)
    left_why = models.CharField(_("why"), max_length=10, choices=Left.choices, blank=True)
    seen_at = models.DateTimeField(_("last seen"), null=True, blank=True)

    objects = SeatQuerySet.as_manager()

    class Meta:
        verbose_name = _("seat")
        verbose_name_plural = _("seats")
        ordering = ["room", "position"]
        constraints = [
            models.UniqueConstraint(fields=["room", "position"], name="one_seat_per_position"),
            models.UniqueConstraint(fields=["room", "pseudonym"], name="one_seat_per_pseudonym"),
            models.UniqueConstraint(
                fields=["room", "participant"],
                condition=Q(participant__isnull=False),
                name="one_seat_per_room_and_person",
            ),
            models.UniqueConstraint(
                fields=["room"], condition=Q(nature="machine"), name="one_machine_at_most_in_a_room"
            ),
            models.CheckConstraint(
                name="no_person_on_a_machine_seat",
                condition=Q(nature="human") | Q(participant__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym


class EventQuerySet(models.QuerySet["Event"]):
    def messages(self) -> EventQuerySet:
        return self.filter(kind=Event.Kind.MESSAGE)


class Event(models.Model):
    """One numbered line of a room's log: a message, or what the game announced. Changed by erasure alone.

    ``client_id`` is what the sender's browser called it: sent again it is the same line. ``client_at`` and
    ``edited`` (by the agent's simulated typing) are for researchers; no player gets either.
    ``data``: of a phase {"seconds"}, of an elimination {"nature"} and what else everybody is told.
    """

    class Kind(models.TextChoices):
        MESSAGE = "message", _("message")
        PHASE = "phase", _("phase")
        OUT = "out", _("voted out")
        NOTICE = "notice", _("notice")
        END = "end", _("end")

    room = models.ForeignKey(Room, models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField(pgettext_lazy("group game", "number"))
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    seat = models.ForeignKey(Seat, models.CASCADE, null=True, blank=True, related_name="events")
    round = models.PositiveSmallIntegerField(_("round"))
    phase = models.CharField(_("phase"), max_length=20)
    text = models.TextField(_("text"), blank=True)
    length = models.PositiveIntegerField(_("length"), default=0)  # characters, also after erasure
    client_id = models.CharField(max_length=40, blank=True)
    at = models.DateTimeField(_("time"))
    client_at = models.DateTimeField(_("time by the sender's clock"), null=True, blank=True)
    edited = models.BooleanField(_("edited while typing"), default=False)
    withdrawn = models.BooleanField(_("withdrawn"), default=False)
    data = models.JSONField(default=dict, blank=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        verbose_name = _("line of the log")
        verbose_name_plural = _("log")
        ordering = ["room", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["room", "seq"], name="one_line_per_number"),
            models.UniqueConstraint(
                fields=["seat", "client_id"], condition=~Q(client_id=""), name="one_line_per_sent_message"
            ),
            models.CheckConstraint(
                name="a_message_has_a_seat", condition=~Q(kind="message") | Q(seat__isnull=False)
            ),
        ]
        indexes = [models.Index(fields=["seat", "at"], name="lines_of_a_seat")]  # how fast somebody writes

    def __str__(self) -> str:
        return f"{self.room_id} #{self.seq}"


class HeldBack(models.Model):
    """A message that was not sent because of what it held. What it said is not stored."""

    class What(models.TextChoices):
        PHONE = "phone", _("phone number")
        EMAIL = "email", _("e-mail address")

    seat = models.ForeignKey(Seat, models.CASCADE, related_name="held_back")
    what = models.CharField(_("what"), max_length=10, choices=What.choices)
    at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("message held back")
        verbose_name_plural = _("messages held back")

    def __str__(self) -> str:
        return self.what


class Concern(models.Model):
    """Somebody pressed “Report”. Staff look at it; nobody else learns of it."""

    room = models.ForeignKey(Room, models.CASCADE, related_name="concerns")
    seat = models.ForeignKey(Seat, models.CASCADE, related_name="concerns")  # who reports
    event = models.ForeignKey(Event, models.SET_NULL, null=True, blank=True, related_name="concerns")
    text = models.CharField(_("what is wrong"), max_length=500, blank=True)
    at = models.DateTimeField(_("time"))
    seen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    seen_at = models.DateTimeField(_("looked at"), null=True, blank=True)

    class Meta:
        verbose_name = _("reported message")
        verbose_name_plural = _("reported messages")
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.room_id} {self.at:%H:%M}"

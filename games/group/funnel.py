"""The group game's steps of a study's funnel: counts that tell nothing of how games end for the AI."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from games.group.models import Ticket
from games.room.models import Seat
from studies.funnel import Step
from studies.models import Participant, Study


def steps_of(study: Study) -> list[Step]:
    """How many came to the waiting room, had a seat, and saw their game to its end as a game.

    A game's end is counted and not a person's: who was voted out while it went on would tell that the AI was
    still in.
    """
    people = Participant.objects.filter(study=study, is_test=False, erased_at=None)
    seats = Seat.objects.filter(participant__in=people, room__group_game__isnull=False)
    return [
        Step("waited", _("Came to the waiting room"), _people(Ticket.objects.filter(participant__in=people))),
        Step("seated", _("Sat in a group game"), _people(seats)),
        Step("game_over", _("Their group game is over"), _people(seats.exclude(room__group_game__end=""))),
    ]


def _people(rows: QuerySet[Ticket] | QuerySet[Seat]) -> int:
    return rows.order_by().values("participant").distinct().count()

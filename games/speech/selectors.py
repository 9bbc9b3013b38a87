"""Reads of the game that span tables: a finished round and its trials."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from games.speech.models import Round, SpeechPlayer, Trial
from studies.models import Participant
from turingsite.errors import NotFound


def access_round(participant: Participant, number: int) -> Round:
    """A finished round of this person; NotFound for open ones, too: what they hold is not told yet."""
    round_ = (
        Round.objects.select_related("player")
        .filter(player__participant=participant, number=number, state=Round.State.FINISHED)
        .first()
    )
    if round_ is None:
        raise NotFound("no_round", _("There is no such round here."))
    return round_


def judged_trials(round_: Round) -> QuerySet[Trial]:
    """The answered scored trials of a round in order, with what the reveal needs."""
    return (
        Trial.objects.filter(round=round_, state=Trial.State.DONE, expected="")
        .exclude(answer="")
        .select_related("dialogue")
        .prefetch_related("dialogue__parties__system", "dialogue__parties__speaker")
        .order_by("position")
    )


def rounds_played(player: SpeechPlayer) -> int:
    return Round.objects.filter(player=player, state=Round.State.FINISHED).count()

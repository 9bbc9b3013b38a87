"""The survey after a game: every item may stay open; answers are about one game."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from games.group.models import Game
from games.group.selectors import is_over_for, survey_of
from games.group.services.settling import settle_person
from games.room.models import Seat
from studies.models import Participant
from studies.services import hold, record_answers
from turingsite.errors import Conflict, gettext_noop


@transaction.atomic
def answer_survey(
    *,
    participant: Participant,
    seat: Seat,
    game: Game,
    values: Mapping[str, Any],
    language: str,
    now: datetime,
) -> None:
    """Store the answers (None where left open) and settle the person. Sent again, the later answers count.

    Conflict ``still_playing`` for somebody in the middle of the game.
    """
    if not is_over_for(seat, game):
        raise Conflict("still_playing", gettext_noop("Your game is still going on."))
    sheet = survey_of(game)
    if sheet is not None:
        record_answers(
            participant=participant,
            questionnaire=sheet,
            values=values,
            language=language,
            about=game.code,
            now=now,
        )
    else:
        hold(participant=participant)
    settle_person(seat=seat, game=game, now=now)

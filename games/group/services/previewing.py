"""A preview: a game whose seats nobody holds, which a researcher opens all at once. It counts nowhere."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from games.group.models import Agent, Game
from games.group.services.settings import settings_of
from games.group.services.starting import start_game
from games.room.models import Room
from studies import audit
from studies.models import Study
from turingsite.errors import Conflict, Invalid

MOST_OPEN = 3  # at a time in one study: each keeps an agent busy


@transaction.atomic
def open_preview(
    *, study: Study, language: str, agent: Agent | None = None, user: Any, now: datetime
) -> Game:
    """Start a game as the study plays it, with empty seats. ``agent``: by default drawn as for any game.

    Invalid for a language the study does not have, Conflict ``too_many_previews``.
    """
    if language not in study.languages:
        raise Invalid("unknown_language", _("Choose one of the languages on this page."))
    if Room.objects.live().filter(study=study, is_preview=True).count() >= MOST_OPEN:
        raise Conflict("too_many_previews", _("Several previews are open already. Stop one of them first."))
    game = start_game(
        study=study,
        language=language,
        participants=[None] * settings_of(study).people,
        agent=agent,
        now=now,
        is_preview=True,
    )
    audit.record("group.preview_opened", study=study, user=user, target=game.code, now=now)
    return game

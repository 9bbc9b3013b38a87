"""What the desk notes when staff look: at a game, which shows outcomes, and at a reported message."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from games.group.models import Game
from games.group.outcomes import KEY, count
from games.group.selectors_desk import is_real
from games.room.models import Concern
from studies import audit
from studies.looks import state_of
from studies.models import AuditLine
from studies.outcomes import noted

ONE_LOOK = timedelta(hours=1)  # the same person at the same game within it: one look


@transaction.atomic
def note_watching(*, game: Game, user: Any, now: datetime) -> bool:
    """Note that ``user`` opened a game, by how many counted then; whether it is a new look.

    A game of tests or a preview shows nobody's answers and is not noted.
    """
    if not is_real(game):
        return False
    just_now = AuditLine.objects.filter(
        study=game.study, action="group.watched", target=game.code, actor=user, at__gt=now - ONE_LOOK
    )
    if just_now.exists():
        return False
    audit.record(
        "group.watched",
        study=game.study,
        user=user,
        target=game.code,
        now=now,
        **noted({KEY: count(game.study)}),
        **state_of(game.study),
    )
    return True


@transaction.atomic
def look_at_concern(*, concern: Concern, user: Any, now: datetime) -> bool:
    """Mark a reported message as looked at; whether this call did it. The first who looked stays."""
    found = Concern.objects.filter(pk=concern.pk, seen_at=None).update(seen_by=user, seen_at=now)
    if not found:
        return False
    audit.record(
        "group.concern_seen",
        study=concern.room.study,
        user=user,
        target=concern.room.group_game.code,
        now=now,
    )
    return True

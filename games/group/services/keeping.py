"""A game that was played to its end is kept as a dialogue; who missed it at the end is found by the sweep."""

from __future__ import annotations

from datetime import datetime, timedelta

from games.group.models import Game
from games.group.services.dialogues import store_dialogue

SOON = timedelta(seconds=10)  # the process that ended the game keeps it at once
LONG = timedelta(days=2)  # what was not kept until then was taken away, or cannot be


def keep(game_id: int) -> None:
    """Keep this game's talk; sent twice, it is kept once."""
    store_dialogue(Game.objects.get(pk=game_id))


def sweep_talks(now: datetime) -> int:
    """Keep the talk of games whose process stopped before it could; how many."""
    missed = Game.objects.filter(
        end__in=Game.PLAYED,
        dialogue=None,
        source=Game.Source.PLAYED,
        ended_at__lt=now - SOON,
        ended_at__gt=now - LONG,
        room__is_preview=False,
        room__is_test=False,
    )
    kept = 0
    for game in missed:
        kept += store_dialogue(game) is not None
    return kept

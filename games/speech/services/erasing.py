"""What is removed of a player who asks for erasure."""

from __future__ import annotations

from games.speech.models import ContentCheck, Round, SpeechPlayer, Standing, Trial
from studies.models import Participant


def erase_player(participant: Participant) -> int:
    """Remove checks, trials, standings, rounds and the player. Trials hold on to exposures, so they go before
    those.
    """
    removed = 0
    removed += ContentCheck.objects.filter(trial__round__player__participant=participant).delete()[0]
    removed += Trial.objects.filter(round__player__participant=participant).delete()[0]
    removed += Standing.objects.filter(player__participant=participant).delete()[0]
    removed += Round.objects.filter(player__participant=participant).delete()[0]
    removed += SpeechPlayer.objects.filter(participant=participant).delete()[0]
    return removed

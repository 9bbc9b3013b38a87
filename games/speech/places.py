"""What texts say about the game in numbers, filled in from the study's settings: {round_size} and others."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Avg

from dialogues.models import Dialogue, StudyItem
from games.speech.services.players import settings_of
from studies.models import Study

NAMES = ("round_size", "round_time", "rounds", "total_time")
LISTENING = 40.0  # seconds of a dialogue where the study has none yet: the middle of 20 to 60
ANSWERING = 8.0  # seconds from the end of one dialogue to the start of the next
AROUND = 4  # minutes for consent, profile, sound check and debrief


def places(study: Study, language: str) -> Mapping[str, str]:
    """``NAMES`` with their words: how many dialogues and minutes a round has, how many rounds there are."""
    settings = settings_of(study)
    minutes = max(1, round(settings.round_size * (_mean_length(study) + ANSWERING) / 60))
    rounds = settings.max_rounds
    total = 5 * max(1, round((rounds * minutes + AROUND) / 5))
    if language == "zh":
        return {
            "round_size": str(settings.round_size),
            "round_time": f"{minutes} 分钟",
            "rounds": f"共 {rounds} 轮" if rounds else "轮数由您决定",
            "total_time": f"{total} 分钟" if rounds else f"每轮 {minutes} 分钟",
        }
    time = f"{minutes} minute{'s' if minutes > 1 else ''}"
    return {
        "round_size": str(settings.round_size),
        "round_time": time,
        "rounds": f"{rounds} round{'s' if rounds > 1 else ''}" if rounds else "as many rounds as you like",
        "total_time": f"{total} minutes" if rounds else f"{time} a round",
    }


def _mean_length(study: Study) -> float:
    """Seconds of the dialogues that can be played."""
    ready = StudyItem.objects.filter(
        study=study, role=StudyItem.Role.MAIN, is_active=True, dialogue__state=Dialogue.State.READY
    )
    return float(ready.aggregate(mean=Avg("dialogue__play_duration"))["mean"] or LISTENING)

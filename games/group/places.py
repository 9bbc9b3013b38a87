"""What texts say about the game in numbers, filled in from the study's settings: {people} and others."""

from __future__ import annotations

from collections.abc import Mapping

from games.group.services.settings import settings_of
from studies.models import Study

NAMES = ("people", "discussion", "game_time")
AROUND = 6  # minutes for consent, profile, waiting, survey and debrief


def places(study: Study, language: str) -> Mapping[str, str]:
    """``NAMES`` with their words: people in a game, how long a round is talked, how long it takes at most."""
    settings = settings_of(study)
    a_round = settings.discussion_seconds + settings.vote_seconds + settings.reveal_seconds
    # With n people there are n - 1 rounds at most: after each, one person fewer, or the AI is out.
    minutes = 5 * max(1, round((AROUND + (settings.people - 1) * a_round / 60) / 5))
    if language == "zh":
        return {
            "people": str(settings.people),
            "discussion": _zh(settings.discussion_seconds),
            "game_time": f"{minutes} 分钟",
        }
    return {
        "people": str(settings.people),
        "discussion": _en(settings.discussion_seconds),
        "game_time": f"{minutes} minutes",
    }


def _en(seconds: int) -> str:
    if seconds % 60:
        return f"{seconds} seconds"
    minutes = seconds // 60
    return f"{minutes} minute{'s' if minutes > 1 else ''}"


def _zh(seconds: int) -> str:
    return f"{seconds} 秒" if seconds % 60 else f"{seconds // 60} 分钟"

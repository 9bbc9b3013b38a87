"""The speech game's part of a study file: its settings, under ``settings.speech``."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from django.utils.translation import gettext_lazy as _

from games.speech.models import Round, SpeechSettings
from games.speech.services.settings import FILE_ONLY, FIXED_ONCE_PLAYED, SETTINGS, change_speech_settings
from studies.files.shapes import Flag, Number, Shape, Text, Whole
from studies.models import Study
from studies.registry import StudyPart, study_parts

KEY = "speech"
MOST = 32_767  # what the column holds

FIELDS: dict[str, Shape] = {
    "round_size": Whole(1, 20),
    "mix": Text(known=SpeechSettings.Mix.values),
    "reveal": Text(known=SpeechSettings.Reveal.values),
    "show_system": Flag(),
    "points": Text(known=SpeechSettings.Points.values),
    "leaderboard": Flag(),
    "max_rounds": Whole(0, MOST),
    "lease_minutes": Whole(1, MOST),
    "ask_confidence": Flag(),
    "ask_reason": Flag(),
    "content_checks": Whole(0, MOST),
    "attention_checks": Whole(0, MOST),
    "sound_check": Flag(),
    "margin": Number(0.001, 1),
}


def _values(settings: SpeechSettings) -> dict[str, Any]:
    found = {name: getattr(settings, name) for name in FIELDS}
    # A default is a member of its enumeration, a stored value plain text.
    return {name: value.value if isinstance(value, Enum) else value for name, value in found.items()}


def read(study: Study) -> dict[str, Any]:
    """The study's settings, the defaults where it has none yet."""
    return _values(SpeechSettings.objects.filter(study=study).first() or SpeechSettings())


def defaults() -> dict[str, Any]:
    return _values(SpeechSettings())


def refusal(study: Study, name: str) -> Any:
    """Why the setting may not change now; empty where it may."""
    played = name in FIXED_ONCE_PLAYED and Round.objects.filter(player__participant__study=study).exists()
    return _("This can't be changed any more: people have played.") if played else ""


def write(study: Study, values: Mapping[str, Any], user: Any) -> None:
    change_speech_settings(study=study, user=user, **values)


def register() -> None:
    assert set(FIELDS) == {*SETTINGS, *FILE_ONLY}  # noqa: S101  (a setting without a place in the file would be lost)
    study_parts.add(StudyPart(KEY, FIELDS, read, defaults, refusal, write))

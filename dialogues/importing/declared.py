"""Rows that declare a dialogue without its sound: which they are, and the length they state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.notes import Note
from turingsite.audio.decode import MAX_SECONDS


def has_sound(data: Mapping[str, Any]) -> bool:
    """Whether the row names sound, in audio or in turns that name their own files."""
    return any(data.get(name) for name in ("audio", "turns", "turns_a", "turns_b"))


def declared_length(value: str, *, sounds: bool, said: list[Note]) -> float | None:
    """Seconds of a dialogue that comes without sound; ``None`` where there is sound, or nothing is said."""
    if not value:
        return None
    if sounds:
        message = gettext_noop("The length is measured in the sound file; duration is left out.")
        said.append(notes.warning("duration_left_out", message))
        return None
    try:
        seconds = float(value.replace(",", "."))
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= MAX_SECONDS:
        message = gettext_noop("“%(value)s” is no length: write seconds, for example 32.5, at most %(most)s.")
        said.append(
            notes.refused("bad_duration", message, value=notes.shortened(value), most=f"{MAX_SECONDS:g}")
        )
        return None
    return seconds

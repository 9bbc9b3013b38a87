"""What stored values are called on the desk: reasons, breaks of protocol, gates, devices, actors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import BatchItem, Score
from dialogues.models import Choice, Verdict
from games.group.models import Game
from games.speech.models import Trial

#: Why a verdict is outside an analysis set, a score in no layer, a game in no figure. A verdict that breaks
#: the protocol has several.
REASONS: Mapping[str, Any] = {
    **{value: label for value, label in Score.Exclusion.choices if value},
    **{value: label for value, label in BatchItem.Purpose.choices if value != BatchItem.Purpose.WORK},
    "taxonomy": _("scored by another version of the taxonomy"),
    **{value: label for value, label in Verdict.Exclusion.choices if value},
    "unscored": Choice.UNSCORED.label,
    "round_not_finished": _("round not finished"),
    "later_round": _("later round"),
    "too_fast": _("too fast"),
    "not_listened": _("not heard to the end"),
    "checks_failed": _("checks failed"),
    "running": _("still being played"),
    **{value: label for value, label in Game.End.choices if value not in ("", *Game.PLAYED)},
}
GATES: Mapping[str, Any] = {value: label for value, label in Trial.Gate.choices if value}
DEVICES: Mapping[str, Any] = {"phone": _("phone"), "tablet": _("tablet"), "desktop": _("computer")}
ACTORS: Mapping[str, Any] = {
    "participant": _("participant"),
    "command": _("command line"),
    "system": _("the program itself"),
}


def called(words: Mapping[str, Any], value: str) -> str:
    """The word for a value; the value itself where there is none."""
    return str(words.get(value, value))

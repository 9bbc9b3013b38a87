"""How a study plays the game, changed from the desk."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from games.speech.models import Round, SpeechSettings
from studies import audit
from studies.models import Study
from studies.services.setting import store
from turingsite.errors import Invalid

SETTINGS = (
    "round_size", "mix", "reveal", "show_system", "points", "leaderboard", "max_rounds", "ask_confidence",
    "ask_reason", "content_checks", "attention_checks", "sound_check", "margin",
)  # fmt: skip
#: Set by a study file alone: on the desk nobody needs it.
FILE_ONLY = ("lease_minutes",)
#: What decides which dialogues people get and what they know when they judge: fixed with the first round.
FIXED_ONCE_PLAYED = ("round_size", "mix", "reveal", "show_system")


@transaction.atomic
def change_speech_settings(*, study: Study, user: Any = None, **fields: Any) -> list[str]:
    """Set how ``study`` plays; the names of what changed. Invalid with what is wrong by field."""
    if set(fields) - {*SETTINGS, *FILE_ONLY}:
        raise ValueError("not settings of the speech game")
    settings, _new = SpeechSettings.objects.get_or_create(study=study)
    changed = [
        name for name in (*SETTINGS, *FILE_ONLY) if name in fields and fields[name] != getattr(settings, name)
    ]
    played = Round.objects.filter(player__participant__study=study).exists()
    fixed = [name for name in changed if name in FIXED_ONCE_PLAYED and played]
    if fixed:
        message = _("This can't be changed any more: people have played.")
        raise Invalid("fixed", message, fields=dict.fromkeys(fixed, message))
    values = store(settings, {name: fields[name] for name in changed})
    if changed:
        audit.record(
            "speech.settings", study=study, user=user, target=study.slug, changed=changed, values=values
        )
    return changed

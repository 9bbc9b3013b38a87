"""What a speaker's withdrawal does to what was said about their recordings: kept, and in no analysis."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from dialogues.models import Dialogue, Party, Speaker, Verdict
from studies import audit
from studies.prepared import PreparedValues


def _gone(dialogue: int) -> QuerySet[Dialogue, Any]:
    gone = Q(state=Dialogue.State.WITHDRAWN) | Q(parties__speaker__withdrawn_at__isnull=False)
    return Dialogue.objects.filter(gone, pk=dialogue).values_list("pk")


_GONE = PreparedValues(_gone, dialogue=-1)  # asked with every verdict


def withdrawn() -> QuerySet[Party, Any]:
    """Keys of the dialogues with the voice, own or cloned, of somebody who withdrew."""
    return Party.objects.filter(speaker__withdrawn_at__isnull=False).values("dialogue")


def of_withdrawn() -> Q:
    """Rows about a dialogue that was withdrawn, or has such a voice."""
    return Q(dialogue__in=withdrawn()) | Q(dialogue__state=Dialogue.State.WITHDRAWN)


def is_withdrawn(dialogue: int) -> bool:
    """Whether the dialogue with that key has such a voice, or was itself withdrawn."""
    return _GONE.get(dialogue=dialogue) is not None


@transaction.atomic
def follow_speaker(*, speaker: Speaker, user: Any = None) -> int:
    """Make verdicts follow the stored ``withdrawn_at`` of the speaker; how many changed.

    Those that were analysed are left out as ``recording``; where a withdrawal was noted by mistake and is
    taken back, they are analysed again. A verdict that has another reason keeps it.
    """
    said = Verdict.objects.filter(dialogue__in=Party.objects.filter(speaker=speaker).values("dialogue"))
    if speaker.withdrawn_at is not None:
        changed = said.filter(exclusion=Verdict.Exclusion.NONE).update(exclusion=Verdict.Exclusion.RECORDING)
        audit.record("speaker.withdrew", user=user, target=speaker.code, verdicts=changed)
        return changed
    back = said.filter(~of_withdrawn(), exclusion=Verdict.Exclusion.RECORDING)
    changed = back.update(exclusion=Verdict.Exclusion.NONE)
    audit.record("speaker.returned", user=user, target=speaker.code, verdicts=changed)
    return changed

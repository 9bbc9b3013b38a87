"""This floor's part of an erasure: what a person heard, said about dialogues, and said in one."""

from __future__ import annotations

from dialogues.models import Exposure, Flag, Party, Turn, Verdict
from studies.models import Participant
from studies.registry import Eraser, erasers

WITHDRAWN_TEXT = "[withdrawn]"


def erase_opinions(participant: Participant) -> int:
    """Delete verdicts and exposures; empty the turns the person spoke and cut the link to their parties."""
    theirs = {"rater__participant": participant}
    spoken = Turn.objects.filter(party__rater__participant=participant)
    rows = Flag.objects.filter(turn__in=spoken).delete()[0]  # their evidence quotes
    rows += spoken.update(text=WITHDRAWN_TEXT)
    rows += Party.objects.filter(**theirs).update(rater=None)
    rows += Verdict.objects.filter(**theirs).delete()[0]
    rows += Exposure.objects.filter(**theirs).delete()[0]
    return rows


def register() -> None:
    """Called once when the app starts; games have registered before, so their trials are gone by then."""
    erasers.add(
        Eraser(
            key="dialogues",
            models=(
                "dialogues.Verdict",
                "dialogues.Exposure",
                "dialogues.Party",
                "dialogues.Turn",
                "dialogues.Flag",
            ),
            erase=erase_opinions,
        )
    )

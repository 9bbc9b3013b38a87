"""How rules write their flags: raised, renewed, lifted; what a person made of a flag is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from dialogues.models import Dialogue, Flag


class Wanted(NamedTuple):
    """A flag that a rule calls for; ``turn`` is a turn's key, None for the whole dialogue."""

    rule: str
    value: float | None
    evidence: dict[str, Any]
    turn: int | None = None


def renew(dialogue: Dialogue, *, source: str, wanted: Iterable[Wanted], on_turns: bool = False) -> bool:
    """Make the flags of ``source`` those that are ``wanted``; whether anything changed.

    Flags of other sources are a person's or another rule's and are not touched. A flag that a person
    confirmed stays though its rule no longer applies. Where number or evidence changed, a rejection no longer
    holds: it was about something else. ``on_turns`` says whether flags on single turns are the rule's, too.
    """
    there = {
        (flag.rule, flag.turn_id): flag
        for flag in dialogue.flags.filter(source=source)
        if on_turns or flag.turn_id is None
    }
    changed = False
    for one in wanted:
        flag = there.pop((one.rule, one.turn), None)
        if flag is None:
            dialogue.flags.create(
                rule=one.rule, value=one.value, evidence=one.evidence, turn_id=one.turn, source=source
            )
            changed = True
        elif (flag.value, flag.evidence) != (one.value, one.evidence):
            flag.value, flag.evidence = one.value, one.evidence
            if flag.review == Flag.Review.REJECTED:
                flag.review, flag.reviewed_by, flag.reviewed_at = Flag.Review.OPEN, None, None
            flag.save(update_fields=["value", "evidence", "review", "reviewed_by", "reviewed_at"])
            changed = True
    stale = [flag.pk for flag in there.values() if flag.review != Flag.Review.CONFIRMED]
    if stale:
        Flag.objects.filter(pk__in=stale).delete()
    return changed or bool(stale)

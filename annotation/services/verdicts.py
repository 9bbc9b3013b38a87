"""The end of an item: everything is said, and the final choice on ordinary work becomes a verdict."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.models import AnnotationSettings, Annotator, BatchItem
from annotation.review.access import seen_in_review
from annotation.services.items import close_address
from annotation.services.scoring import scores_of
from dialogues import time_line
from dialogues.listening import COVERED, is_claimed
from dialogues.models import Verdict
from dialogues.withdrawing import is_withdrawn
from studies.models import Participant
from turingsite.errors import Invalid

ACTIVITY = "annotation"


def finish(
    item: BatchItem,
    participant: Participant,
    settings: AnnotationSettings,
    *,
    now: datetime,
    seconds: float = 0.0,
) -> None:
    """Close ``item``, whose row is held; ``seconds`` of work go to it. Invalid ``incomplete`` with what is
    missing by field.
    """
    refuse_incomplete(item, settings)
    item.state, item.finished_at = BatchItem.State.FINISHED, now
    item.exclusion = exclusion(item, participant)
    if item.exclusion in (BatchItem.Exclusion.RATER, BatchItem.Exclusion.KNOWN):
        item.place = None
    item.active_seconds += seconds
    if item.purpose == BatchItem.Purpose.WORK:
        item.verdict = _verdict(item, participant, now=now)
    item.save(update_fields=["state", "finished_at", "exclusion", "place", "active_seconds", "verdict"])
    close_address(item)


def refuse_incomplete(item: BatchItem, settings: AnnotationSettings) -> None:
    fields: dict[str, Any] = {
        key: _("Score this, or say that there is no evidence.")
        for key, given in scores_of(item, settings).items()
        if not given.is_stored
    }
    if not item.choice:
        fields["choice"] = _("Answer human or machine.")
    if item.confidence is None:
        fields["confidence"] = _("Say how sure you are, from 1 to 5.")
    if fields:
        raise Invalid("incomplete", _("Something is still missing. It is marked below."), fields=fields)


def exclusion(item: BatchItem, participant: Participant) -> str:
    """Why an item is not analysed, or nothing. Where several apply, the one about the person comes first."""
    if participant.is_test:
        return BatchItem.Exclusion.TEST
    if participant.is_pilot:
        return BatchItem.Exclusion.PILOT
    if item.known or _saw_truth(item, participant):
        return BatchItem.Exclusion.KNOWN
    # Read anew: the researcher may have decided while this request waited for the person's row.
    if Annotator.objects.filter(pk=item.batch.annotator_id, set_aside_at__isnull=False).exists():
        return BatchItem.Exclusion.RATER
    if is_withdrawn(item.dialogue_id):  # while it was being scored
        return BatchItem.Exclusion.RECORDING
    return BatchItem.Exclusion.NONE


def _saw_truth(item: BatchItem, participant: Participant) -> bool:
    """Whether the person's account saw in a review what the dialogue is, before it was tied to them."""
    # Read anew: the account may have been tied while this request waited for the person's row.
    user = Participant.objects.filter(pk=participant.pk).values_list("user_id", flat=True).first()
    return user is not None and seen_in_review(user).filter(pk=item.dialogue_id).exists()


def leave_out_seen(participant: Participant) -> None:
    """Called when an account is tied to a person, whose row is held: what they finished after the account had
    seen the truth of it in a review is kept, not analysed, and its place is free. What they have in hand
    follows when they finish it.
    """
    finished = BatchItem.objects.filter(
        rater=participant.rater, state=BatchItem.State.FINISHED, exclusion=BatchItem.Exclusion.NONE
    )
    seen = dict(seen_in_review(participant.user_id).values_list("pk", "seen_at"))
    late = [item.pk for item in finished.filter(dialogue__in=seen) if _is_after(item, seen[item.dialogue_id])]
    Verdict.objects.filter(annotation_item__in=late).update(exclusion=Verdict.Exclusion.KNOWN)
    BatchItem.objects.filter(pk__in=late).update(exclusion=BatchItem.Exclusion.KNOWN, place=None)


def _is_after(item: BatchItem, seen_at: datetime) -> bool:
    return item.finished_at is not None and item.finished_at >= seen_at


def _verdict(item: BatchItem, participant: Participant, *, now: datetime) -> Verdict:
    """The final choice as a verdict. Its reasons for being left out have the same names as the item's."""
    return Verdict.objects.create(
        study_id=item.study_id,
        rater_id=item.rater_id,
        dialogue_id=item.dialogue_id,
        repeat=0,
        activity=ACTIVITY,
        choice=item.choice,
        first_choice=item.first_choice or item.choice,
        confidence=item.confidence,
        evidence=evidence(item, participant),
        round_number=item.batch.number,
        position=item.position,
        exclusion=item.exclusion,
        protocol_breaks=protocol_breaks(item, participant),
        given_at=item.chosen_at or now,
    )


def evidence(item: BatchItem, participant: Participant) -> dict[str, Any]:
    """How the dialogue was heard and scored. Times in seconds, moments in ISO 8601."""
    annotator = item.batch.annotator
    found: dict[str, Any] = {
        "heard": round(item.heard, 4),
        "replays": max(item.plays - 1, 0),
        "pauses": item.pauses,
        "slowest": item.slowest,
        "slow": round(item.slow_seconds, 1),
        "hidden": round(item.hidden_seconds, 1),
        "active": round(item.active_seconds, 1),
        "device": participant.device_class,
        "left": "human" if annotator.human_left else "machine",
        "gate": item.gate,
        "length": round(time_line.length(item.exposure, item.dialogue), 3),
        "served_at": _iso(item.opened_at),
        "first_byte_at": _iso(item.exposure.first_byte_at),
        "first_play_at": _iso(item.first_play_at),
        "unlocked_at": _iso(item.whole_at),
    }
    if is_claimed(participant):
        found["claimed"] = True
    return found


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="milliseconds") if moment else None


def protocol_breaks(item: BatchItem, participant: Participant) -> list[str]:
    """All that keeps a choice out of *per_protocol*. Reaching the end is no hearing: what was played counts,
    and only of a sound that was fetched.
    """
    fetched = item.exposure.first_byte_at is not None or is_claimed(participant)
    breaks = {
        "not_listened": item.heard < COVERED or not fetched,
        "pilot": participant.is_pilot,
        "test": participant.is_test,
    }
    return [name for name, broken in breaks.items() if broken]

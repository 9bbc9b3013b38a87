"""The end of an item: everything is said, and the final choice on ordinary work becomes a verdict."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.models import AnnotationSettings, Annotator, BatchItem
from annotation.services.scoring import scores_of
from dialogues import time_line
from dialogues.listening import COVERED, ENDED, is_claimed
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
    if item.exclusion == BatchItem.Exclusion.RATER:
        item.place = None
    item.active_seconds += seconds
    if item.purpose == BatchItem.Purpose.WORK:
        item.verdict = _verdict(item, participant, now=now)
    item.save(update_fields=["state", "finished_at", "exclusion", "place", "active_seconds", "verdict"])


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
    if item.known:
        return BatchItem.Exclusion.KNOWN
    # Read anew: the researcher may have decided while this request waited for the person's row.
    if Annotator.objects.filter(pk=item.batch.annotator_id, set_aside_at__isnull=False).exists():
        return BatchItem.Exclusion.RATER
    if is_withdrawn(item.dialogue_id):  # while it was being scored
        return BatchItem.Exclusion.RECORDING
    return BatchItem.Exclusion.NONE


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
    breaks = {
        "not_listened": item.heard < COVERED and item.gate != ENDED,
        "pilot": participant.is_pilot,
        "test": participant.is_test,
    }
    return [name for name, broken in breaks.items() if broken]

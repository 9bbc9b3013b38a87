"""What was heard of a dialogue that is scored. Scoring opens once it was heard whole at speed 1."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from annotation.models import BatchItem
from annotation.services import sessions
from annotation.services.items import access_item, moved_on, settings_for
from annotation.services.leases import renew
from dialogues import listening, time_line
from dialogues.listening import finite
from dialogues.models import Exposure
from studies.models import Participant
from studies.services.holding import refuse_if_over

SLOWEST = 0.75
FIELDS = (
    "ranges", "heard", "plays", "pauses", "hidden_seconds", "slowest", "slow_seconds", "first_play_at",
    "gate", "whole_at",
)  # fmt: skip


@dataclass(frozen=True)
class Listening(listening.Listening):
    """A report with speeds: ``ranges`` were played at speed 1, ``slow`` seconds slower in all, never slower
    than ``slowest``.
    """

    slow: float = 0.0
    slowest: float = 1.0

    @classmethod
    def fields(cls, data: Any) -> dict[str, Any]:
        return {
            **super().fields(data),
            "slow": min(max(finite(data.get("slow") or 0), 0.0), listening.DAY),
            "slowest": min(max(finite(data.get("slowest") or 1.0), SLOWEST), 1.0),
        }


@transaction.atomic
def record_listening(
    *,
    participant: Participant,
    code: str,
    report: Listening,
    now: datetime,
    seconds: float | None = None,
) -> BatchItem:
    """Add a report to the item and open its scores if it is time; Conflict ``moved_on`` for one that is over.

    ``seconds``: of work since the last sign, as the page counts them.
    """
    refuse_if_over(participant)
    settings = settings_for(participant)
    item = access_item(participant, code)
    if item.state not in (BatchItem.State.OPEN, BatchItem.State.RETURNED):
        raise moved_on()
    apply(item, report, participant=participant, now=now)
    session = item.session  # type: ignore[attr-defined]  # read with the item
    item.active_seconds += sessions.touch(item.batch.annotator, session, settings, now, seconds).seconds
    item.save(update_fields=[*FIELDS, "active_seconds"])
    renew(item.batch, settings, now=now)
    return item


def apply(item: BatchItem, report: Listening, *, participant: Participant, now: datetime) -> None:
    """Merge ``report`` into the item, not yet saved, and open its scores if it is time.

    Our clock bounds what is believed: nobody hears more seconds than have passed since the item was shown.
    Before it was heard whole at speed 1, no other speed counts.
    """
    length = time_line.length(item.exposure, item.dialogue)
    claimed = listening.is_claimed(participant)
    shown = item.opened_at or item.given_at
    seconds = listening.passed(shown, now, length)
    if report.ranges:
        believed = length if claimed else seconds + listening.SLACK
        ranges = listening.grow(item.ranges, report.ranges, length=length, most=believed)
        item.ranges = [[round(start, 2), round(end, 2)] for start, end in ranges]
        item.heard = min(listening.total(ranges) / length, 1.0) if length else 0.0
    item.plays = max(item.plays, report.plays)
    item.pauses = max(item.pauses, report.pauses)
    item.hidden_seconds = max(item.hidden_seconds, report.hidden)
    if item.first_play_at is None and report.is_playing:
        heard = min(listening.total(item.ranges), length)
        item.first_play_at = max(shown, now - timedelta(seconds=heard))
        Exposure.objects.filter(pk=item.exposure_id, heard_at=None).update(heard_at=item.first_play_at)
    open_gate(item, ended=report.ended and (claimed or seconds + listening.SLACK >= length), now=now)
    if item.gate and report.slow:
        item.slow_seconds = max(item.slow_seconds, report.slow)
        item.slowest = min(item.slowest, report.slowest)


def open_gate(item: BatchItem, *, ended: bool = False, scripted: bool = True, now: datetime) -> None:
    """Open the scores in memory where the end was reached, 97 % were covered, or the wait is over.

    A page without scripts reports no playing: there the first byte counts as the first play, but not before
    the item was shown (a page with scripts fetches ahead, so for it the first byte says nothing).
    """
    if not scripted and item.first_play_at is None and item.exposure.first_byte_at is not None:
        item.first_play_at = max(item.exposure.first_byte_at, item.opened_at or item.given_at)
    if not item.gate:
        item.gate = listening.opened_by(item.heard, ended=ended, wait=unlock_in(item, now=now))
    if item.whole_at is None and (ended or item.heard >= listening.COVERED):
        item.whole_at = now  # a wait that was over opens the scores, too, but then it was not heard whole


def unlock_in(item: BatchItem, *, now: datetime) -> float | None:
    """Seconds until the scores open by themselves; None before anything was played."""
    return listening.wait_left(item.first_play_at, now, time_line.length(item.exposure, item.dialogue))

"""What was heard of a trial, and the gate that opens its answers. Loses nobody: after a while it opens
anyway.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from dialogues import time_line
from dialogues.listening import (
    SLACK,
    Listening,
    grow,
    is_claimed,
    opened_by,
    passed,
    total,
    wait_left,
)
from dialogues.models import Exposure
from games.speech.models import Trial
from games.speech.services.players import access_trial, moved_on
from studies.models import Participant
from studies.prepared import PreparedUpdate
from studies.services.holding import refuse_if_over

# "Ended" is believed from length / FASTEST on: a browser may be made to play faster, not to skip.
FASTEST = 2.0


@transaction.atomic
def record_listening(*, participant: Participant, code: str, report: Listening, now: datetime) -> Trial:
    """Add a report to the trial and open the gate if it is time; Conflict ``moved_on`` for a trial that is
    over.
    """
    refuse_if_over(participant)
    trial = access_trial(participant, code)
    if trial.state != Trial.State.CURRENT:
        raise moved_on()
    apply(trial, report, participant=participant, now=now)
    if not _HEARD.write(trial.pk, *heard_of(trial), was=Trial.State.CURRENT):
        raise moved_on()
    return trial


HEARING_FIELDS = (
    "ranges", "heard", "plays", "pauses", "hidden_seconds", "first_play_at", "gate", "unlocked_at",
)  # fmt: skip
_HEARD = PreparedUpdate(Trial, *HEARING_FIELDS, guard="state")


def heard_of(trial: Trial) -> list[Any]:
    """What the trial holds in ``HEARING_FIELDS``."""
    return [getattr(trial, name) for name in HEARING_FIELDS]


def apply(trial: Trial, report: Listening, *, participant: Participant, now: datetime) -> None:
    """Merge ``report`` into the trial, not yet saved, and open the gate if it is time.

    Our clock bounds what is believed: nobody hears more seconds than have passed since the trial was served.
    Only test participants of a study that allows them may claim to have heard (bots that do not wait).
    """
    length = time_line.length(trial.exposure, trial.dialogue)
    claimed = is_claimed(participant)
    served = trial.served_at or trial.drawn_at
    seconds = passed(served, now, length)
    if report.ranges:
        believed = length if claimed else seconds + SLACK
        ranges = grow(trial.ranges, report.ranges, length=length, most=believed)
        trial.ranges = [[round(start, 2), round(end, 2)] for start, end in ranges]
        trial.heard = min(total(ranges) / length, 1.0) if length else 0.0
    trial.plays = max(trial.plays, report.plays)
    trial.pauses = max(trial.pauses, report.pauses)
    trial.hidden_seconds = max(trial.hidden_seconds, report.hidden)
    if trial.first_play_at is None and report.is_playing:
        trial.first_play_at = max(served, now - timedelta(seconds=min(total(trial.ranges), length)))
        Exposure.objects.filter(pk=trial.exposure_id, heard_at=None).update(heard_at=trial.first_play_at)
    open_gate(
        trial,
        ended=report.ended and (claimed or seconds + SLACK >= length / FASTEST),
        now=now,
    )


def open_gate(trial: Trial, *, ended: bool = False, scripted: bool = True, now: datetime) -> None:
    """Unlock the answers in memory where the end was reached, 97 % were covered, or the wait is over.

    A page without scripts reports no playing: there the first byte counts as the first play, but not before
    serving (a page with scripts fetches ahead, so for it the first byte says nothing).
    """
    if trial.gate:
        return
    if not scripted and trial.first_play_at is None and trial.exposure.first_byte_at is not None:
        trial.first_play_at = max(trial.exposure.first_byte_at, trial.served_at or trial.drawn_at)
    trial.gate = opened_by(trial.heard, ended=ended, wait=unlock_in(trial, now=now))
    if trial.gate:
        trial.unlocked_at = now


def unlock_in(trial: Trial, *, now: datetime) -> float | None:
    """Seconds until the gate opens by itself; None before anything was played."""
    return wait_left(trial.first_play_at, now, time_line.length(trial.exposure, trial.dialogue))

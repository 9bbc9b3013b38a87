"""What was heard of a trial, and the gate that opens its answers. Loses nobody: after a while it opens
anyway.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from dialogues import time_line
from dialogues.models import Exposure
from games.speech.models import Trial
from games.speech.services.players import access_trial, moved_on, refuse_if_over
from studies.models import Participant
from turingsite.errors import Invalid

COVERED = 0.97  # of the decoded length
WAIT_FACTOR, WAIT_MORE = (
    1.5,
    20.0,
)  # the gate opens WAIT_MORE seconds after WAIT_FACTOR lengths since first play
SLACK = 5.0  # seconds a report may be ahead of our clock: the sound starts before the page's request arrives
FASTEST = (
    2.0  # "ended" is believed from length / FASTEST on: a browser may be made to play faster, not to skip
)
TOUCH = 0.05  # stretches closer than this are one
MOST_RANGES = 500
MOST_COUNT = 32_000
DAY = 86_400.0

Range = tuple[float, float]


@dataclass(frozen=True)
class Listening:
    """One report of a player. Counts are totals since the trial began; ``ranges`` may be all or only the new
    ones.
    """

    ranges: tuple[Range, ...] = ()
    plays: int = 0
    pauses: int = 0
    hidden: float = 0.0
    ended: bool = False
    playing: bool = False

    @classmethod
    def parse(cls, data: Any) -> Listening:
        """From a request's fields; what is missing is nothing. Invalid where a field has the wrong shape."""
        try:
            ranges = tuple((_finite(start), _finite(end)) for start, end in data.get("ranges") or ())
            report = cls(
                ranges=ranges,
                plays=_count(data.get("plays")),
                pauses=_count(data.get("pauses")),
                hidden=min(max(_finite(data.get("hidden") or 0), 0.0), DAY),
                ended=data.get("ended") in (True, "true", "1"),
                playing=data.get("playing") in (True, "true", "1"),
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise Invalid("bad_listening", _("The listening report cannot be read.")) from error
        if len(ranges) > MOST_RANGES:
            raise Invalid("bad_listening", _("The listening report cannot be read."))
        return report


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number


def _count(value: Any) -> int:
    return min(max(int(value or 0), 0), MOST_COUNT)


def union(ranges: Iterable[Sequence[float]], length: float) -> list[Range]:
    """Ranges merged and cut to 0–length, in order."""
    merged: list[Range] = []
    for start, end in sorted((max(r[0], 0.0), min(r[1], length)) for r in ranges):
        if end <= start:
            continue
        if merged and start <= merged[-1][1] + TOUCH:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def total(ranges: Iterable[Sequence[float]]) -> float:
    return sum(r[1] - r[0] for r in ranges)


def grow(old: Sequence[Sequence[float]], new: Iterable[Range], *, length: float, most: float) -> list[Range]:
    """``old`` with ``new``, adding at most ``most`` seconds in all; what goes beyond is cut from the new
    ones' ends.
    """
    have = union(old, length)
    for start, end in union(new, length):
        room = most - total(have)
        if room <= 0:
            break
        for gap_start, gap_end in _unheard(have, start, end):
            gain = min(gap_end - gap_start, room)
            have = union([*have, (gap_start, gap_start + gain)], length)
            room -= gain
            if room <= 0:
                break
    return have


def _unheard(have: Sequence[Range], start: float, end: float) -> list[Range]:
    gaps: list[Range] = []
    at = start
    for from_, to in have:
        if to <= at or from_ >= end:
            continue
        if from_ > at:
            gaps.append((at, from_))
        at = max(at, to)
    if at < end:
        gaps.append((at, end))
    return gaps


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
    trial.save(update_fields=HEARING_FIELDS)
    return trial


HEARING_FIELDS = (
    "ranges", "heard", "plays", "pauses", "hidden_seconds", "first_play_at", "gate", "unlocked_at",
)  # fmt: skip


def apply(trial: Trial, report: Listening, *, participant: Participant, now: datetime) -> None:
    """Merge ``report`` into the trial, not yet saved, and open the gate if it is time.

    Our clock bounds what is believed: nobody hears more seconds than have passed since the trial was served.
    Only test participants of a study that allows them may claim to have heard (bots that do not wait).
    """
    length = time_line.length(trial.exposure, trial.dialogue)
    claimed = is_claimed(participant)
    served = trial.served_at or trial.drawn_at
    passed = (now - served).total_seconds()
    # A clock that was set back meanwhile bounds nothing: then the person's word counts.
    passed = max(passed, 0.0) if passed > -SLACK else length
    if report.ranges:
        believed = length if claimed else passed + SLACK
        ranges = grow(trial.ranges, report.ranges, length=length, most=believed)
        trial.ranges = [[round(start, 2), round(end, 2)] for start, end in ranges]
        trial.heard = min(total(ranges) / length, 1.0) if length else 0.0
    trial.plays = max(trial.plays, report.plays)
    trial.pauses = max(trial.pauses, report.pauses)
    trial.hidden_seconds = max(trial.hidden_seconds, report.hidden)
    if trial.first_play_at is None and (report.ranges or report.plays or report.playing or report.ended):
        trial.first_play_at = max(served, now - timedelta(seconds=min(total(trial.ranges), length)))
        Exposure.objects.filter(pk=trial.exposure_id, heard_at=None).update(heard_at=trial.first_play_at)
    open_gate(
        trial,
        ended=report.ended and (claimed or passed + SLACK >= length / FASTEST),
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
    wait = unlock_in(trial, now=now)
    if ended:
        trial.gate = Trial.Gate.ENDED
    elif trial.heard >= COVERED:
        trial.gate = Trial.Gate.COVERED
    elif wait is not None and wait <= 0:
        trial.gate = Trial.Gate.TIMEOUT
    else:
        return
    trial.unlocked_at = now


def unlock_in(trial: Trial, *, now: datetime) -> float | None:
    """Seconds until the gate opens by itself; None before anything was played.

    None left to wait where our clock was set back: how long ago it was cannot be known.
    """
    if trial.first_play_at is None:
        return None
    length = time_line.length(trial.exposure, trial.dialogue)
    waited = (now - trial.first_play_at).total_seconds()
    return 0.0 if waited < -SLACK else WAIT_FACTOR * length + WAIT_MORE - waited


def is_claimed(participant: Participant) -> bool:
    return participant.is_test and participant.study.test_participants

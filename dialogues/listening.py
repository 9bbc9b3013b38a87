"""What was heard of a dialogue, pure: reports of a player, what is believed of them, when answers open.

Loses nobody: after a while they open anyway.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.utils.translation import gettext_lazy as _

from studies.models import Participant
from turingsite.errors import Invalid

COVERED = 0.97  # of the decoded length
# Answers open WAIT_MORE seconds after WAIT_FACTOR lengths since the first play.
WAIT_FACTOR, WAIT_MORE = 1.5, 20.0
SLACK = 5.0  # seconds a report may be ahead of our clock: the sound starts before the page's request arrives
TOUCH = 0.05  # stretches closer than this are one
MOST_RANGES = 500
MOST_COUNT = 32_000
DAY = 86_400.0
ENDED, COVERED_ENOUGH, TIMEOUT = "ended", "covered", "timeout"  # why answers opened

Range = tuple[float, float]


@dataclass(frozen=True)
class Listening:
    """One report of a player. Counts are totals since the dialogue was served; ``ranges`` may be all or only
    the new ones.
    """

    ranges: tuple[Range, ...] = ()
    plays: int = 0
    pauses: int = 0
    hidden: float = 0.0
    ended: bool = False
    playing: bool = False

    @classmethod
    def parse(cls, data: Any) -> Self:
        """From a request's fields; what is missing is nothing. Invalid where a field has the wrong shape."""
        try:
            fields = cls.fields(data)
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise Invalid("bad_listening", _("The listening report cannot be read.")) from error
        if len(fields["ranges"]) > MOST_RANGES:
            raise Invalid("bad_listening", _("The listening report cannot be read."))
        return cls(**fields)

    @classmethod
    def fields(cls, data: Any) -> dict[str, Any]:
        return {
            "ranges": tuple((finite(start), finite(end)) for start, end in data.get("ranges") or ()),
            "plays": _count(data.get("plays")),
            "pauses": _count(data.get("pauses")),
            "hidden": min(max(finite(data.get("hidden") or 0), 0.0), DAY),
            "ended": data.get("ended") in (True, "true", "1"),
            "playing": data.get("playing") in (True, "true", "1"),
        }

    @property
    def is_playing(self) -> bool:
        """Whether anything was played at all."""
        return bool(self.ranges or self.plays or self.playing or self.ended)


def finite(value: Any) -> float:
    """The number that ``value`` says; ValueError where it is not one, or not finite."""
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


def passed(served: datetime, now: datetime, length: float) -> float:
    """Seconds since the dialogue was served: nobody hears more than that, and SLACK.

    A clock that was set back meanwhile bounds nothing: then it is ``length``, and the person's word counts.
    """
    seconds = (now - served).total_seconds()
    return max(seconds, 0.0) if seconds > -SLACK else length


def wait_left(first_play: datetime | None, now: datetime, length: float) -> float | None:
    """Seconds until answers open by themselves; None before anything was played.

    None left to wait where our clock was set back: how long ago it was cannot be known.
    """
    if first_play is None:
        return None
    waited = (now - first_play).total_seconds()
    return 0.0 if waited < -SLACK else WAIT_FACTOR * length + WAIT_MORE - waited


def opened_by(heard: float, *, ended: bool, wait: float | None) -> str:
    """What opens answers now: the end was reached, 97 % were covered, the wait is over; "" for nothing."""
    if ended:
        return ENDED
    if heard >= COVERED:
        return COVERED_ENOUGH
    return TIMEOUT if wait is not None and wait <= 0 else ""


def is_claimed(participant: Participant) -> bool:
    """Whether this person may claim to have heard: test participants where the study allows them (bots that
    do not wait).
    """
    return participant.is_test and participant.study.test_participants

"""Write what processing found to the rows: dialogue, turns, flags; within the transaction of ``services``."""

from __future__ import annotations

from typing import Any

from django.db.models import Max

from dialogues import flagging
from dialogues.flagging import Wanted
from dialogues.models import Dialogue, Turn
from dialogues.processing.flags import raised
from turingsite.audio import turns as talk
from turingsite.audio.encode import BITRATE, DELAY, Playable
from turingsite.audio.peaks import peaks
from turingsite.audio.process import Processed

Source = Turn.Source


def write(dialogue: Dialogue, processed: Processed, playable: Playable, *, path: str) -> None:
    """The dialogue gets its playing file and report and is ready, unless it was withdrawn in the meantime."""
    numbers = {**processed.numbers, "play": play_numbers(playable)}
    dialogue.play_path = path
    dialogue.play_duration = round(playable.info.duration, 4)  # below a sample: no 23.880000000000017
    dialogue.play_size = len(playable.data)
    dialogue.quality = numbers
    dialogue.peaks = peaks(processed.samples)
    dialogue.trouble = ""
    if dialogue.state != Dialogue.State.WITHDRAWN:
        dialogue.state = Dialogue.State.READY
    dialogue.save(
        update_fields=["play_path", "play_duration", "play_size", "quality", "peaks", "trouble", "state"]
    )
    _write_turns(dialogue, processed)
    _write_flags(dialogue, numbers)


def play_numbers(playable: Playable) -> dict[str, Any]:
    """What the encoded file holds, for the quality report."""
    return {
        "duration": round(playable.info.duration, 4),
        "bytes": len(playable.data),
        "frames": playable.info.frames,
        "bitrate": BITRATE,
        "bytes_per_second": round(len(playable.data) / playable.info.duration, 3),
        "true_peak": None if playable.true_peak is None else round(playable.true_peak, 3),
        "lowered_db": round(playable.lowered, 2),
        "delay": round(DELAY, 4),
    }


def _write_turns(dialogue: Dialogue, processed: Processed) -> None:
    playing = {turn.key: turn for turn in processed.turns}
    if processed.numbers["turns"]["given"] == 0:
        dialogue.turns.filter(source=Source.DETECTED).delete()
        parties = {party.label: party for party in dialogue.parties.all()}
        last = dialogue.turns.aggregate(last=Max("index"))["last"]
        first = 0 if last is None else last + 1
        Turn.objects.bulk_create(
            Turn(
                dialogue=dialogue,
                party=parties[turn.speaker],
                index=first + turn.key,
                start=round(turn.start, 4),
                end=round(turn.end, 4),
                source=Source.DETECTED,
                **_play_times(playing.get(turn.key)),
            )
            for turn in processed.found
            if turn.speaker in parties
        )
        return
    rows = list(dialogue.turns.all())
    for row in rows:
        times = _play_times(playing.get(row.index))
        row.play_start, row.play_end = times["play_start"], times["play_end"]
    Turn.objects.bulk_update(rows, ["play_start", "play_end"], batch_size=500)


def _play_times(turn: talk.Turn | None) -> dict[str, float | None]:
    """Where a turn is heard in the MP3: encoder and decoder put everything back by the same delay."""
    if turn is None:
        return {"play_start": None, "play_end": None}
    return {"play_start": round(turn.start + DELAY, 3), "play_end": round(turn.end + DELAY, 3)}


def _write_flags(dialogue: Dialogue, numbers: dict[str, Any]) -> None:
    wanted = [Wanted(flag.rule, flag.value, flag.evidence) for flag in raised(numbers)]
    flagging.renew(dialogue, source="quality", wanted=wanted)

"""Turns as a person heard them replace those of the manifest, or those that were detected."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from dialogues import time_line
from dialogues.importing.turns import MAX_TEXT, MAX_TURNS, TOLERANCE
from dialogues.models import Dialogue, Party, ProcessingJob, Turn
from dialogues.processing.services import queue
from dialogues.transcripts import services as transcripts
from studies import audit
from studies.characters import cleaned
from turingsite.errors import Conflict, Invalid

APART = 1_000_000  # indexes of turns are moved out of the way by so much before they get new ones
Source = Turn.Source


class Corrected(NamedTuple):
    """A turn as it should be: seconds in the original. ``was``: the index of the stored turn that it is.

    ``text`` None keeps the words of that turn.
    """

    speaker: str
    start: float
    end: float
    text: str | None = None
    was: int | None = None


def stamp(dialogue: Dialogue) -> str:
    """What a form says it has seen: another one as soon as anything about the turns is."""
    rows = dialogue.turns.order_by("index").values_list("index", "party__label", "start", "end", "text")
    return hashlib.sha256(json.dumps(list(rows)).encode()).hexdigest()[:16]


@transaction.atomic
def correct_turns(
    *, dialogue: Dialogue, turns: Sequence[Corrected], user: Any = None, seen: str = ""
) -> ProcessingJob | None:
    """Store the turns, search their words anew, and process the dialogue again where their times changed.

    Turns that stay keep their row and so what people marked on it. Invalid with ``fields`` (``<row>-start``,
    ``-end``, ``-speaker``, ``-text``) for every fault; Conflict where somebody else was faster (``seen``), or
    while the dialogue is being processed. The job, or None where only words changed.
    """
    # Two people at the same turns: the second reads what the first has written.
    dialogue = (
        Dialogue.objects.select_for_update(of=("self",)).select_related("recording").get(pk=dialogue.pk)
    )
    if seen and seen != stamp(dialogue):
        raise Conflict(
            "turns_changed", _("Somebody else has corrected these turns meanwhile. Load the page again.")
        )
    parties = {party.label: party for party in dialogue.parties.all()}
    _check(dialogue, turns, parties)
    rows = {row.index: row for row in dialogue.turns.select_related("party")}
    ordered = sorted(turns, key=lambda turn: (turn.start, turn.end))
    if not _moved(ordered, rows):
        _write_words(ordered, rows)
        job = None
    else:
        time_line.keep(dialogue)
        _write(dialogue, ordered, rows, parties)
        job = queue(dialogue=dialogue, user=user)
    transcripts.scan(dialogue=dialogue)
    audit.record("dialogue.turns_corrected", user=user, target=dialogue.pk, turns=len(ordered))
    return job


def _check(dialogue: Dialogue, turns: Sequence[Corrected], parties: dict[str, Party]) -> None:
    if not turns:
        raise Invalid("no_turns", _("Give at least one turn."))
    if len(turns) > MAX_TURNS:
        raise Invalid("too_many_turns", _("More than %(count)s turns."), {"count": MAX_TURNS})
    length = dialogue.recording.duration if dialogue.recording else None
    faults: dict[str, str] = {}
    code = "bad_turn"
    for number, turn in enumerate(turns):
        if turn.speaker not in parties:
            code = "unknown_speaker"
            faults[f"{number}-speaker"] = _("There is no speaker %(label)s here.") % {"label": turn.speaker}
        faults |= {f"{number}-{name}": why for name, why in _faults(turn, length)}
    if faults:
        raise Invalid(code, _("Look at the marked fields."), fields=faults)


def _faults(turn: Corrected, length: float | None) -> Iterator[tuple[str, str]]:
    if not 0 <= turn.start < float("inf"):
        yield "start", _("Write seconds, from 0 on.")
    elif not turn.start < turn.end < float("inf"):
        yield "end", _("A turn ends after it starts (%(start)s s).") % {"start": f"{turn.start:g}"}
    elif length is not None and turn.end > length + TOLERANCE:
        yield "end", _("The recording ends at %(length)s s.") % {"length": f"{length:.2f}"}
    if turn.text is not None and len(turn.text) > MAX_TEXT:
        yield "text", _("At most %(most)s characters.") % {"most": MAX_TEXT}


def _moved(turns: Sequence[Corrected], rows: dict[int, Turn]) -> bool:
    """Whether anything but words differs from what is stored. Detected turns become a person's by storing."""
    if len(turns) != len(rows) or any(row.source == Source.DETECTED for row in rows.values()):
        return True
    for turn in turns:
        row = rows.get(turn.was) if turn.was is not None else None
        if row is None or row.start is None or row.end is None or row.party.label != turn.speaker:
            return True
        if (
            abs(row.start - turn.start) > 0.0006 or abs(row.end - turn.end) > 0.0006
        ):  # forms show milliseconds
            return True
    return False


def _words(turn: Corrected, row: Turn | None) -> str:
    text = turn.text if turn.text is not None else row.text if row is not None else ""
    return cleaned(text).strip()


def _write_words(turns: Sequence[Corrected], rows: dict[int, Turn]) -> None:
    for turn in turns:
        row = rows[turn.was or 0]
        if row.text != _words(turn, row):
            row.text = _words(turn, row)
            row.save(update_fields=["text"])


def _write(
    dialogue: Dialogue, turns: Sequence[Corrected], rows: dict[int, Turn], parties: dict[str, Party]
) -> None:
    # Until it is processed again the dialogue plays as before: the turns lie where they are heard there.
    playing = time_line.mapping(rows.values())
    kept: set[int] = set()
    dialogue.turns.update(index=F("index") + APART)
    for index, turn in enumerate(turns):
        row = rows.get(turn.was) if turn.was is not None and turn.was not in kept else None
        if row is not None and turn.was is not None:
            kept.add(turn.was)
        text = _words(turn, row)
        row = row or Turn(dialogue=dialogue)
        row.party, row.index, row.text, row.source = parties[turn.speaker], index, text, Source.CORRECTED
        row.start, row.end = round(turn.start, 4), round(turn.end, 4)
        row.play_start, row.play_end = playing(row.start), playing(row.end)
        row.save()
    dialogue.turns.filter(index__gte=APART).delete()

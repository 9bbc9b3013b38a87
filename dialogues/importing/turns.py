"""Turn times from RTTM, JSON or columns: who speaks from when to when, checked against the sound's length."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.encodings import read_text
from dialogues.importing.notes import Note
from studies.characters import refusal
from turingsite.errors import Invalid

MAX_TURNS = 2000
MAX_TEXT = 5000
TOLERANCE = 0.25  # seconds a turn may overrun the sound: time stamps are rounded, codecs pad
SPAN = re.compile(r"(?P<start>\d+(?:\.\d+)?)\s*(?:-|–|—|~|:|\s)\s*(?P<end>\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class TurnTime:
    """One turn: ``speaker`` A or B, seconds in the recording. ``audio`` is its own file if it has one."""

    speaker: str
    start: float
    end: float
    text: str = ""
    audio: str = ""


class TurnsRefused(Invalid):
    """The turns can't be read; the message says where."""


def from_file(data: bytes, name: str, *, stem: str) -> tuple[list[TurnTime], list[Note]]:
    """Turns from the bytes of an RTTM or JSON file; ``stem`` is the sound file's name without its ending."""
    try:
        text = read_text(data).text.lstrip("\ufeff")
    except Invalid as error:
        raise TurnsRefused(error.code, error.message, error.params) from error
    if name.lower().endswith(".json") or text.lstrip()[:1] in ("[", "{"):
        return from_json(text, name=name)
    return from_rttm(text, stem=stem, name=name)


def from_rttm(text: str, *, stem: str, name: str) -> tuple[list[TurnTime], list[Note]]:
    """RTTM: ``SPEAKER file channel start duration <NA> <NA> speaker <NA> <NA>``, other types passed over."""
    said: list[Note] = []
    by_file: dict[str, list[TurnTime]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith((";", "#")) or words[0].upper() != "SPEAKER":
            continue
        if len(words) < 8:
            raise _bad_line(name, number, gettext_noop("an RTTM line has at least eight fields"))
        start, length = _number(words[3]), _number(words[4])
        if start is None or length is None or start < 0 or length <= 0:
            raise _bad_line(
                name, number, gettext_noop("start must be 0 or more and the duration more than 0")
            )
        by_file.setdefault(words[1], []).append(TurnTime(words[7], start, start + length))
    if not by_file:
        raise TurnsRefused(
            "no_turns", gettext_noop("%(file)s holds no turns (no line begins with SPEAKER)."), {"file": name}
        )
    if stem in by_file:
        return by_file[stem], said
    if len(by_file) > 1:
        raise TurnsRefused(
            "no_turns_for_file",
            gettext_noop("%(file)s has turns of several recordings, but none called “%(stem)s”."),
            {"file": name, "stem": stem},
        )
    other, found = next(iter(by_file.items()))
    said.append(
        notes.warning(
            "turns_of_other_file",
            gettext_noop(
                "The turns in %(file)s are those of “%(other)s”; they were taken for this recording."
            ),
            file=name,
            other=notes.shortened(other),
        )
    )
    return found, said


def from_json(source: Any, *, name: str) -> tuple[list[TurnTime], list[Note]]:
    """A JSON list of {"speaker", "start", "end" or "duration", "text"?, "audio"?}."""
    if isinstance(source, str):
        try:
            source = json.loads(source)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 1)
            raise _bad_line(name, line, gettext_noop("this is not valid JSON")) from error
    items = source.get("turns") if isinstance(source, dict) else source
    if not isinstance(items, list) or not items:
        raise TurnsRefused(
            "no_turns", gettext_noop("%(file)s holds no turns: a list of turns is expected."), {"file": name}
        )
    return [_json_turn(item, number, name) for number, item in enumerate(items, 1)], []


def from_columns(a: Any, b: Any) -> tuple[list[TurnTime], list[Note]]:
    """Turns from the columns ``turns_a`` and ``turns_b``: ``0-3.6; 9.9-12.6`` or lists of pairs."""
    return [
        TurnTime(who, start, end)
        for who, cell in (("A", a), ("B", b))
        for start, end in _spans(cell, f"turns_{who.lower()}")
    ], []


def checked(turns: Iterable[TurnTime], *, duration: float) -> tuple[list[TurnTime], list[Note]]:
    """Turns in order, speakers called A and B, all within ``duration``. Raises :class:`TurnsRefused`."""
    said: list[Note] = []
    ordered = sorted(turns, key=lambda turn: (turn.start, turn.end))
    if len(ordered) > MAX_TURNS:
        raise TurnsRefused("too_many_turns", gettext_noop("More than %(count)s turns."), {"count": MAX_TURNS})
    late = [turn for turn in ordered if turn.end > duration + TOLERANCE or turn.start >= duration]
    if late:
        raise TurnsRefused(
            "turn_beyond_end",
            gettext_noop("A turn ends at %(end)s s, but the sound is only %(length)s s long."),
            {"end": round(max(turn.end for turn in late), 2), "length": round(duration, 2)},
        )
    ordered = [replace(turn, end=min(turn.end, duration)) for turn in ordered]
    names = list(dict.fromkeys(turn.speaker for turn in ordered))
    folded = {name.strip().upper(): name for name in names}
    if len(names) > 2:
        shown = [notes.shortened(name, 20) for name in names[:5]]
        raise TurnsRefused(
            "too_many_speakers",
            gettext_noop("A dialogue has two speakers; these turns name %(count)s (%(names)s)."),
            {"count": len(names), "names": ", ".join(shown)},
        )
    if set(folded) <= {"A", "B"}:
        ordered = [replace(turn, speaker=turn.speaker.strip().upper()) for turn in ordered]
    else:
        called = dict(zip(names, "AB", strict=False))
        ordered = [replace(turn, speaker=called[turn.speaker]) for turn in ordered]
        said.append(
            notes.warning(
                "speakers_renamed",
                gettext_noop("The turns name their speakers %(names)s; whoever speaks first was taken as A."),
                names=", ".join(notes.shortened(name, 20) for name in names),
            )
        )
    if len({turn.speaker for turn in ordered}) < 2:
        said.append(
            notes.warning("one_speaker", gettext_noop("Only one speaker has turns; a dialogue has two."))
        )
    elif ordered[0].speaker == "B":
        said.append(
            notes.warning("b_opens", gettext_noop("B speaks first; in this corpus A opens and B is judged."))
        )
    return ordered, said


def _json_turn(item: Any, number: int, name: str) -> TurnTime:
    if not isinstance(item, dict):
        raise _bad_turn(name, number, gettext_noop("it is not an object"))
    speaker = item.get("speaker", item.get("label", item.get("who")))
    if not isinstance(speaker, str | int) or isinstance(speaker, bool) or not str(speaker).strip():
        raise _bad_turn(name, number, gettext_noop("it names no speaker"))
    audio, text = item.get("audio") or "", item.get("text") or ""
    if (
        not isinstance(audio, str)
        or not isinstance(text, str)
        or len(text) > MAX_TEXT
        or refusal([audio, text])
    ):
        raise _bad_turn(name, number, gettext_noop("its text or file is not usable"))
    start, end, length = (_number(item.get(key)) for key in ("start", "end", "duration"))
    if start is not None and end is None and length is not None:
        end = start + length
    if audio and start is None and end is None:
        return TurnTime(str(speaker), 0.0, 0.0, text, audio)
    if start is None or end is None:
        raise _bad_turn(name, number, gettext_noop("start and end must be numbers of seconds"))
    if start < 0 or end <= start:
        raise _bad_turn(name, number, gettext_noop("it must end after it starts, at 0 or later"))
    return TurnTime(str(speaker), start, end, text, audio)


def _spans(cell: Any, column: str) -> list[tuple[float, float]]:
    if isinstance(cell, str) and not cell.lstrip().startswith("["):
        spans = []
        for piece in re.split(r"[;,，；|]", cell):
            if not piece.strip():
                continue
            found = SPAN.fullmatch(piece.strip().replace("s", ""))
            if not found or float(found["end"]) <= float(found["start"]):
                raise _bad_span(piece, column)
            spans.append((float(found["start"]), float(found["end"])))
        return spans
    try:
        pairs = json.loads(cell) if isinstance(cell, str) else cell
        spans = [(float(start), float(end)) for start, end in pairs]
    except (ValueError, TypeError) as error:
        raise _bad_span(str(cell), column) from error
    for start, end in spans:
        if not 0 <= start < end < math.inf:
            raise _bad_span(f"{start}-{end}", column)
    return spans


def _bad_span(piece: str, column: str) -> TurnsRefused:
    return TurnsRefused(
        "bad_span",
        gettext_noop("“%(piece)s” in %(column)s is no stretch of time: write 0-3.6; 9.9-12.6."),
        {"piece": notes.shortened(piece), "column": column},
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _bad_line(name: str, line: int, why: str) -> TurnsRefused:
    return TurnsRefused(
        "bad_turn_line",
        gettext_noop("%(file)s, line %(line)s: %(why)s."),
        {"file": notes.shortened(name), "line": line, "why": why},
    )


def _bad_turn(name: str, number: int, why: str) -> TurnsRefused:
    return TurnsRefused(
        "bad_turn",
        gettext_noop("%(file)s, turn %(number)s: %(why)s."),
        {"file": notes.shortened(name), "number": number, "why": why},
    )

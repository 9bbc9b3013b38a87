"""The survey files of LLMafia: "question - number" in each line, then comments. Scales as they were asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.notes import Note, shortened
from games.group.importing.shapes import FileAnswer

QUESTIONS = {
    "similarity to human behavior": "human_likeness",
    "timing of messaging": "timing",
    "relevance of messages": "relevance",
    "was the llm identified": "identified",
}
IDENTIFIED, COMMENTS = "identified", "gave_away"
YES_NO = ("0", "1")
#: Games whose survey asks whether the machine was identified used the second scale, earlier ones the first.
FIRST_SCALE, SECOND_SCALE = tuple(map(str, range(101))), tuple(map(str, range(1, 6)))
LONGEST = 5000

_LINE = re.compile(r"(.+?) - (-?\d+)")


def surveys(folder: Path, people: Sequence[str], said: list[Note]) -> list[FileAnswer]:
    """What the people of a game answered; whoever answered nothing is left out. Faults go to ``said``."""
    sheets = {name: text for name in people if (text := _read(folder, name, said))}
    later = any(IDENTIFIED in key.lower() for text in sheets.values() for key in text.splitlines())
    return [
        answer
        for name, text in sheets.items()
        for answer in _answers(name, text, SECOND_SCALE if later else FIRST_SCALE, said)
    ]


def _file(name: str) -> str:
    return f"{name}_survey.txt"


def _read(folder: Path, name: str, said: list[Note]) -> str:
    try:
        return (folder / _file(name)).read_text(encoding="utf-8-sig").strip()
    except FileNotFoundError:
        return ""
    except (UnicodeDecodeError, OSError):
        message = gettext_noop("%(file)s can't be read as text.")
        said.append(notes.refused("unreadable", message, file=_file(name)))
        return ""


def _answers(name: str, text: str, scale: Sequence[str], said: list[Note]) -> list[FileAnswer]:
    head, _mark, comments = text.partition("Comments:")
    found = []
    for number, line in enumerate(head.splitlines(), 1):
        if not line.strip():
            continue
        parsed = _LINE.fullmatch(line.strip())
        key = QUESTIONS.get(parsed[1].strip().lower()) if parsed else None
        if parsed is None or key is None:
            message = gettext_noop("%(file)s, line %(line)s is not “question - number”: “%(text)s”")
            said.append(
                notes.refused("bad_survey", message, file=_file(name), line=number, text=shortened(line))
            )
            continue
        own = YES_NO if key == IDENTIFIED else scale
        if parsed[2] not in own:
            message = gettext_noop("%(file)s, line %(line)s: %(value)s is outside %(low)s to %(high)s.")
            said.append(
                notes.refused(
                    "outside", message, file=_file(name), line=number, value=parsed[2], low=own[0],
                    high=own[-1],
                )
            )  # fmt: skip
            continue
        found.append(FileAnswer(name, key, parsed[2], own))
    if comments.strip():
        found.append(FileAnswer(name, COMMENTS, comments.strip()[:LONGEST], ()))
    return found

"""The words of the sound check: ``sounds/index.json`` beside this module lists them by language.

{"en": [{"id": "…", "word": "…", "accept": ["…"], "file": "en/….mp3"}, …], "zh": […]}
"""

from __future__ import annotations

import functools
import json
import unicodedata
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent / "sounds"


class Word(NamedTuple):
    id: str
    accept: frozenset[str]  # as ``heard_as`` gives them
    path: Path


@functools.cache
def words(language: str) -> tuple[Word, ...]:
    """The words spoken in a language; none where the folder has none."""
    index = FOLDER / "index.json"
    if not index.exists():
        return ()
    return tuple(
        Word(
            id=str(entry["id"]),
            accept=frozenset(heard_as(text) for text in [entry["word"], *entry.get("accept", [])]),
            path=FOLDER / entry["file"],
        )
        for entry in json.loads(index.read_text(encoding="utf-8")).get(language, [])
    )


def word(id_: str, language: str) -> Word | None:
    return next((one for one in words(language) if one.id == id_), None)


def heard_as(typed: str) -> str:
    """What a person typed, without case, accents, spaces and punctuation."""
    plain = unicodedata.normalize("NFKD", typed[:200]).casefold()
    return "".join(c for c in plain if unicodedata.category(c)[0] in "LN")

"""Is a transcript in the language it was declared in? By script: it tells Chinese from English, no more.

Pure. French in a dialogue declared as English goes unnoticed; what is wrong in practice is the other file.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

FEWEST_LETTERS = 10  # fewer say nothing
#: Least share of a transcript's letters in its language's script. Chinese talk is full of Latin names.
LEAST = {"en": 0.8, "zh": 0.5}


class Script(NamedTuple):
    """``letters``: how many were counted; ``own``: their share in the declared language's script, or None."""

    letters: int
    own: float | None

    def is_wrong(self, language: str) -> bool:
        least = LEAST.get(language)
        return self.own is not None and least is not None and self.own < least


def script_of(text: str, language: str) -> Script:
    """Count the letters of ``text``; ``own`` is None for too few, and for a language without a rule.

    A Chinese character counts as a letter like any other, though it says more: a mixed text is judged
    by what most of it looks like.
    """
    han = latin = other = 0
    for c in text:
        if not c.isalpha():
            continue
        if "\u4e00" <= c <= "\u9fff" or "\u3400" <= c <= "\u4dbf" or "\U00020000" <= c <= "\U0003ffff":
            han += 1
        elif c.isascii() or unicodedata.name(c, "").startswith("LATIN"):
            latin += 1
        else:
            other += 1
    letters = han + latin + other
    if letters < FEWEST_LETTERS or language not in LEAST:
        return Script(letters, None)
    return Script(letters, (han if language == "zh" else latin) / letters)

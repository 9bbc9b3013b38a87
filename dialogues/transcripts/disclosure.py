"""Does a speaker say what they are? Rules over one turn's text, English and Chinese, each with an id.

Pure: text in, marks out. A *disclosure* says that the speaker is a machine; a *denial* that it is a person.
The vocabulary follows the grades of Gros et al. 2021 (R-U-A-Robot): "assistant" or 客服 alone says nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dialogues.transcripts.chinese import CHINESE, chinese_stands
from dialogues.transcripts.english import ENGLISH, english_stands
from dialogues.transcripts.rule import DENIAL, DISCLOSURE

__all__ = ["DENIAL", "DISCLOSURE", "Mark", "discloses", "marks"]
VERSION = 1  # of the rules, stored with what they found
MOST_TEXT = 20_000  # characters of one turn
# One for one, so that places in the text stay where they are.
FOLDED = str.maketrans("’‘＇“”\u00a0\u2011", "'''\"\"\u0020-")


class Mark(NamedTuple):
    """What a rule found: its id, ``disclosure`` or ``denial``, and where in the text (characters)."""

    rule: str
    sort: str
    start: int
    end: int
    evidence: str


def marks(text: str) -> list[Mark]:
    """Every statement in ``text`` of what its speaker is, in order; none twice.

    Both languages' rules are tried on every text: people and machines mix them. A question, a comparison, a
    supposition and the words of others are no statement.
    """
    text = text[:MOST_TEXT]
    plain = text.translate(FOLDED)
    found: list[Mark] = []
    for rules, stands in ((ENGLISH, english_stands), (CHINESE, chinese_stands)):
        for rule in rules:
            for match in rule.pattern.finditer(plain):
                if stands(plain, match, rule):
                    evidence = text[match.start() : match.end()].strip()
                    found.append(Mark(rule.id, rule.sort, match.start(), match.end(), evidence))
    found.sort(key=lambda mark: (mark.start, -mark.end, mark.rule))
    kept: list[Mark] = []
    for mark in found:
        # "I'm not a human": the negation decides, not what stands within it
        if not any(one.start <= mark.start and mark.end <= one.end and one != mark for one in kept):
            kept.append(mark)
    return kept


def discloses(text: str) -> bool:
    """Whether the speaker of ``text`` says to be a machine."""
    return any(mark.sort == DISCLOSURE for mark in marks(text))


def normal_space(text: str) -> str:
    """``text`` on one line, as evidence is shown."""
    return re.sub(r"\s+", " ", text).strip()

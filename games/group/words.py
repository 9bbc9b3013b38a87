"""What is counted in a message: words, whether it asks something. The same for people and agent."""

from __future__ import annotations

import re

#: Scripts written without blanks between words: each character counts as one. Han, kana, bopomofo, Yi.
_SINGLE = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u30ff\u3105-\u312f\u31a0-\u31bf"
)
_SINGLE += "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\uff66-\uff9f"
_SINGLE += "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
_CHARACTER = re.compile(f"[{_SINGLE}]")
#: A run between such characters is a word if it holds a letter or a digit; punctuation alone is none.
_SPOKEN = re.compile(r"[^\W_]")
_QUESTION = re.compile("[?\uff1f\u061f\ufe56\u2047-\u2049]")


def words_in(text: str) -> int:
    """How many words ``text`` has: runs between blanks, of which "a", ":)" and "?" are one each.

    In scripts without blanks every character is a word, and what stands between two of them (Latin words,
    numbers) is one where it holds a letter or digit: "我love你，哈哈" has 5. Korean has blanks.
    """
    return sum(_words_of(run) for run in text.split())


def _words_of(run: str) -> int:
    between = _CHARACTER.split(run)
    if len(between) == 1:
        return 1
    return len(between) - 1 + sum(1 for part in between if _SPOKEN.search(part))


def asks(text: str) -> bool:
    """Whether there is a question mark in it, of any script. Questions without one are not told."""
    return _QUESTION.search(text) is not None

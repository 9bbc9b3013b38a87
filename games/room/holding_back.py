"""Finds phone numbers and e-mail addresses in a message, so that it is not sent. Pure; keeps nothing."""

from __future__ import annotations

import re
import unicodedata

from games.room.models import HeldBack

_PERHAPS = re.compile(r"[@＠\d]")
_EMAIL = re.compile(r"[\w.+-]+\s?@\s?[\w-]+(?:\s?\.\s?[\w-]+)+")
_RUN = re.compile(r"(?<![\w.])(?:\+|00)?\(?\d(?:[ \-.()/]{0,2}\d){7,16}(?!\w)")


def what_is_held_back(text: str) -> str:
    """``HeldBack.What`` of what the text holds, or nothing."""
    if not _PERHAPS.search(text):
        return ""
    plain = unicodedata.normalize("NFKC", text)
    if _EMAIL.search(plain):
        return HeldBack.What.EMAIL
    for found in _RUN.finditer(plain):
        digits = re.sub(r"\D", "", found.group())
        if found.group().startswith(("+", "00")) or re.fullmatch(r"(86)?1[3-9]\d{9}", digits):
            return HeldBack.What.PHONE
    return ""

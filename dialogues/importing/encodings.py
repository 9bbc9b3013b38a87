"""The text of a manifest from its bytes: spreadsheets save in many encodings, and few people know which."""

from __future__ import annotations

import codecs
import unicodedata
from typing import NamedTuple

from django.utils.translation import gettext_noop

from turingsite.errors import Invalid

HOW_TO_SAVE = gettext_noop(
    "This file's characters can't be read. Save it again as “CSV UTF-8 (comma delimited)” in Excel or WPS, "
    "or in UTF-8 from your editor."
)
WORKBOOK = gettext_noop(
    "This is a workbook or an archive, not a table of text. In Excel or WPS choose “Save as” and “CSV UTF-8”."
)
BOMS = (  # the longest first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NAMES = {
    "gb18030": "GB18030",
    "big5": "Big5",
    "cp1252": "Windows-1252",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
}


class Text(NamedTuple):
    """``guessed`` names the encoding where nothing in the file said so; a person should look at it."""

    text: str
    guessed: str = ""


def read_text(data: bytes) -> Text:
    """Decode ``data``. Raises :class:`Invalid` with what to do where it is no text we can tell."""
    if data[:4] == b"PK\x03\x04" or data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise Invalid("workbook", WORKBOOK)
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return Text(_decoded(data, encoding))
    if b"\0" in data[:4096]:
        # UTF-16 without its mark: in Latin text every other byte is zero
        even, odd = data[0:4096:2].count(0), data[1:4096:2].count(0)
        encoding = "utf-16-le" if odd > even else "utf-16-be"
        if max(even, odd) < len(data[:4096]) / 8 or min(even, odd) > max(even, odd) / 10:
            raise Invalid("not_text", HOW_TO_SAVE)
        return Text(_decoded(data, encoding), NAMES[encoding])
    try:
        return Text(_without_controls(data.decode("utf-8")))
    except UnicodeDecodeError:
        return _guessed(data)


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return _without_controls(data.decode(encoding))
    except UnicodeDecodeError as error:
        raise Invalid("encoding", HOW_TO_SAVE) from error


def _without_controls(text: str) -> str:
    """``text`` itself; text with more than a few control characters is some other kind of file."""
    strange = sum(unicodedata.category(c) == "Cc" and c not in "\t\r\n\f" for c in text[:20_000])
    if strange > len(text[:20_000]) / 100:
        raise Invalid("not_text", HOW_TO_SAVE)
    return text


def _guessed(data: bytes) -> Text:
    """GB18030 or Big5 where nearly all beyond ASCII is everyday Chinese, else Windows-1252."""
    best: tuple[float, str, str] | None = None
    for encoding, everyday in (("gb18030", "gb2312"), ("big5", "big5")):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        share = _share_everyday(text, everyday)
        # A Latin letter misread as Chinese stands alone among ASCII; Chinese comes in words.
        if _in_company(text) < 0.5:
            continue
        if share >= 0.9 and (best is None or share > best[0]):
            best = (share, encoding, text)
    if best:
        return Text(_without_controls(best[2]), NAMES[best[1]])
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise Invalid("encoding", HOW_TO_SAVE) from error
    foreign = [c for c in text if ord(c) > 127]
    if (
        sum("À" <= c <= "ÿ" or c in "ŒœŠšŽžŸ‘’“”–—…€°" for c in foreign) < 0.9 * len(foreign)
        or _runs(text) > 2
    ):
        raise Invalid("encoding", HOW_TO_SAVE)
    return Text(_without_controls(text), NAMES["cp1252"])


def _share_everyday(text: str, encoding: str) -> float:
    """Share of the characters beyond ASCII that are Chinese and in the small everyday set ``encoding``."""
    foreign = [c for c in text if ord(c) > 127]
    usual = 0
    for c in foreign:
        if (
            "\u4e00" <= c <= "\u9fff"
            or "\u3000" <= c <= "\u303f"
            or "\uff00" <= c <= "\uffef"
            or c in "“”‘’—…·"
        ):
            try:
                # both bytes high: a Latin letter followed by an ASCII one is not mistaken for an ideograph
                usual += min(c.encode(encoding)) > 0xA0 or encoding == "big5"
            except UnicodeEncodeError:
                continue
    return usual / max(1, len(foreign))


def _in_company(text: str) -> float:
    """Share of the characters beyond ASCII that have another one beside them."""
    foreign = [ord(c) > 127 for c in f" {text} "]
    beside = sum(foreign[i] and (foreign[i - 1] or foreign[i + 1]) for i in range(1, len(foreign) - 1))
    return beside / max(1, sum(foreign))


def _runs(text: str) -> int:
    """The longest run of letters beyond ASCII: Latin words have one or two in a row."""
    longest = run = 0
    for c in text:
        run = run + 1 if ord(c) > 127 and c.isalpha() else 0
        longest = max(longest, run)
    return longest

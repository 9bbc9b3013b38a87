"""The share card from its template: the words, the SVG, the PNG."""

from __future__ import annotations

import hashlib
import struct
import zlib
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
FONTS = HERE / "fonts"
TEMPLATE = HERE / "card.svg"
FAMILY = "Turingsite Card"  # a name of its own, so that no other font on a machine takes its place
SIZE = (1200, 630)  # px, what pages that show links ask for

#: Everything the card says. No name, no points, no answer: a card is the same for everybody.
WORDS = {
    "en": {
        "title": "Human or machine?",
        "line": "Hear short conversations, judge who answers.",
        "human": "Human",
        "machine": "Machine",
        "foot": "A Turing test by ear",
    },
    "zh": {
        "title": "真人还是机器？",
        "line": "听几段简短的对话，判断回应的是谁。",
        "human": "真人",
        "machine": "机器",
        "foot": "用耳朵做的图灵测试",
    },
}


def svg(language: str) -> str:
    """The card in ``language`` ("en", "zh"); KeyError for others."""
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, words in {"lang": language, "family": FAMILY, **WORDS[language]}.items():
        text = text.replace(f"{{{{ {name} }}}}", escape(words))
    return text


def fingerprint(language: str) -> str:
    """SHA-256 of all that a card is drawn from: its SVG and the fonts."""
    parts = [svg(language).encode(), *(path.read_bytes() for path in sorted(FONTS.glob("*.otf")))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def png(language: str) -> bytes:
    """The card as PNG, with its ``fingerprint`` inside: a test sees when a committed one is out of date."""
    import vl_convert  # heavy, and only wanted where cards are drawn

    vl_convert.register_font_directory(str(FONTS))
    drawn: bytes = vl_convert.svg_to_png(svg(language), scale=1)
    return _with_text(drawn, b"Source", fingerprint(language).encode())


def fingerprint_in(picture: bytes) -> str:
    """The fingerprint a PNG made by ``png`` carries, or an empty text."""
    _head, found, rest = picture.partition(b"tEXtSource\0")
    return rest[:64].decode("ascii") if found else ""


def _with_text(picture: bytes, key: bytes, text: bytes) -> bytes:
    """A PNG with one more tEXt chunk, right behind the header (8 bytes of signature, 25 of IHDR)."""
    body = b"tEXt" + key + b"\0" + text
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return picture[:33] + chunk + picture[33:]

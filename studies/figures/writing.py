"""Words in figures: about how wide they are, cut or folded to a width. Exact widths would need the fonts."""

from __future__ import annotations

import unicodedata

from studies.figures.shapes import Axis, Mark

TEXT, SMALL = 12, 11  # px


def width_of(text: str, size: float = TEXT) -> float:
    """About how wide a text is, in px: generous for the usual fonts without serifs."""
    return sum(size * _part(letter) for letter in text)


def cut(text: str, width: float) -> str:
    """The text, with an ellipsis where it is wider than ``width`` px."""
    if width_of(text) <= width:
        return text
    room = width - width_of("…")
    for at, letter in enumerate(text):
        room -= width_of(letter)
        if room < 0:
            return text[:at].rstrip() + "…"
    return text.rstrip() + "…"


def folded(text: str, width: float) -> list[str]:
    """The text in lines of at most ``width`` px, broken at spaces, and after any Chinese character."""
    lines, used = [""], 0.0
    for piece in _pieces(text):
        if lines[-1] and used + width_of(piece.rstrip()) > width:
            lines.append("")
            used = 0.0
        lines[-1] += piece
        used += width_of(piece)
    return [line.strip() for line in lines if line.strip()]


def written(mark: Mark, axis: Axis) -> str:
    """A mark's value with its interval."""
    if mark.value is None:
        return ""
    if mark.low is None or mark.high is None:
        return axis.words(mark.value)
    return f"{axis.words(mark.value)} [{axis.words(mark.low)}, {axis.words(mark.high)}]"


def counted(mark: Mark) -> str:
    return "" if mark.n is None else f"n = {mark.n}"


def is_wide(letter: str) -> bool:
    """Whether a character fills a square, as Chinese ones do."""
    return unicodedata.east_asian_width(letter) in "WF"


def _part(letter: str) -> float:
    """Of the size: the width of a letter."""
    if is_wide(letter):
        return 1.0
    if letter in " .,;:'|!()[]ijlft":
        return 0.36
    if letter in "0123456789k":
        return 0.56
    return 0.84 if letter in "mwMW%@" else 0.6


def _pieces(text: str) -> list[str]:
    """Where a line may be broken: after a space, around a Chinese character, never before a mark."""
    pieces: list[str] = []
    for letter in text:
        mark = unicodedata.category(letter) in ("Po", "Pe", "Pf")
        fresh = not pieces or pieces[-1].endswith(" ") or is_wide(letter) or is_wide(pieces[-1][-1])
        if fresh and not (mark and pieces):
            pieces.append(letter)
        else:
            pieces[-1] += letter
    return pieces

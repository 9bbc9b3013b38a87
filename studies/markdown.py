"""Text inside a Markdown file, shown as it was typed: nothing in it becomes a link, picture or HTML."""

from __future__ import annotations

import re

#: By CommonMark 0.31 (2.4) a backslash takes the meaning from any ASCII punctuation; GitHub's dialect adds
#: bare addresses, strike-through and formulas. An underscore inside a word has no meaning to take.
_MARKS = re.compile(
    r"[\\`*\[\]|~$@]"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|<(?=\S)|&(?=[#\w])"
    r"|:(?=//)|(?<=www)\.",
    re.IGNORECASE,
)
_START = re.compile(r"[-+](?=\s|$)|[#>=]|--|(?<=\d)[.)](?=\s|$)")


def as_markdown_text(text: object) -> str:
    """The text for one line of Markdown, or a cell of a table: line ends become spaces."""
    line = " ".join(str(text).split())
    digits = re.match(r"\d*", line).end()  # type: ignore[union-attr]
    begins = _START.match(line, digits)
    escaped = _MARKS.sub(r"\\\g<0>", line)
    return f"{escaped[:digits]}\\{escaped[digits:]}" if begins else escaped


def as_markdown_lines(text: str) -> list[str]:
    """The same for text of several lines, which stay lines of their own."""
    lines = [as_markdown_text(line) for line in text.strip().splitlines()]
    return [
        f"{line}\\" if line and after else line for line, after in zip(lines, [*lines, ""][1:], strict=True)
    ]

"""Text inside a Markdown file, shown as it was typed: nothing in it becomes a link, picture or HTML. And the
little Markdown that texts of a study may use, as HTML.
"""

from __future__ import annotations

import re
from itertools import groupby

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

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


_ITEM = re.compile(r"(?:[-*]|\d+[.)])\s+")
_NUMBER = re.compile(r"\d")
_SPAN = re.compile(r"`([^`]+)`|\*\*(?=\S)(.+?)(?<=\S)\*\*")


def as_html(text: str) -> SafeString:
    """Paragraphs, lists, **bold** and `code` as HTML; everything else is shown as typed.

    A subset of CommonMark: every character is escaped first, so no text can bring a tag, a link or a picture.
    A line of a list is an item; lines indented below it belong to it.
    """
    blocks: list[SafeString] = []
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip("\n")):
        lines = _joined(block.split("\n"))
        for sort, group in groupby(lines, _sort):
            inner = list(group)
            if sort == "p":
                if words := _inline(" ".join(line.strip() for line in inner)):
                    blocks.append(format_html("<p>{}</p>", words))
                continue
            items = format_html_join("", "<li>{}</li>", ((_inline(_ITEM.sub("", one, 1)),) for one in inner))
            blocks.append(format_html("<{0}>{1}</{0}>", sort, items))
    return mark_safe("\n".join(blocks))  # noqa: S308  (made of escaped parts alone)


def _joined(lines: list[str]) -> list[str]:
    """Lines with those that continue an item, indented below it, added to it."""
    joined: list[str] = []
    for line in lines:
        if line.startswith("  ") and joined and _ITEM.match(joined[-1]) and not _ITEM.match(line.strip()):
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line.strip())
    return joined


def _sort(line: str) -> str:
    if not _ITEM.match(line):
        return "p"
    return "ol" if _NUMBER.match(line) else "ul"


def _inline(line: str) -> SafeString:
    def span(match: re.Match[str]) -> str:
        code, bold = match.groups()
        if code is not None:
            return f"<code>{escape(code)}</code>"
        return f"<strong>{_inline(bold)}</strong>"

    at, parts = 0, []
    for match in _SPAN.finditer(line):
        parts += [escape(line[at : match.start()]), span(match)]
        at = match.end()
    return mark_safe("".join([*parts, escape(line[at:])]))  # noqa: S308  (escaped piece by piece)

"""A figure as a picture: SVG for the page and for a file, PNG. Drawn in this process, without a browser."""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext_lazy as _

from studies.characters import cleaned
from studies.figures.shapes import PALETTE, Figure, Spec
from studies.figures.writing import is_wide
from turingsite.errors import Invalid

PICTURES = ("svg", "png")
SCALE = 2  # of a PNG: 144 dots an inch
LONGEST = 300  # characters of one text: the engine needs seconds for a thousand
KEPT = 128  # drawings, 20 to 100 kB each; a page asks for the same ones again
LATIN = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans'"
CHINESE = "'PingFang SC', 'Noto Sans CJK SC', 'Noto Sans SC', 'Microsoft YaHei'"

_TOKENS = {colour: token for token, colour in PALETTE.items()}
_COLOUR = re.compile(r'(fill|stroke)="(#[0-9a-f]{6})"')
_FONT = re.compile(r' font-family="[^"]*"')
_SIZE = re.compile(r'("fontSize": )(?=\d)')  # in a text of somebody's, the quotes would stand behind strokes
_UNMEASURED = re.compile(r'font-size="-([\d.]+)px"')


def as_svg(figure: Figure) -> str:
    """The figure as a file of its own: light colours, white ground, nothing fetched from anywhere."""
    text = _text(figure.spec)
    fonts = f"{CHINESE}, {LATIN}" if _is_chinese(text) else f"{LATIN}, {CHINESE}"
    return _FONT.sub(f' font-family="{fonts}, sans-serif"', _svg(text)) + "\n"


def as_png(figure: Figure) -> bytes:
    """The figure in dots, twice its size. Invalid where it holds Chinese and no font here can draw it."""
    if _is_chinese(_text(figure.spec)) and not draws_chinese():
        raise Invalid(
            "no_chinese_font",
            _(
                "No font with Chinese characters was found here, so a PNG would have gaps. Save the figure "
                "as SVG, or install such a font (Noto Sans CJK, say)."
            ),
        )
    picture: bytes = _vl_convert().svg_to_png(as_svg(figure), scale=SCALE)
    return picture


def on_page(spec: Spec) -> str:
    """A specification as SVG inside a page: without its title, in the page's font and the tokens' colours."""
    bare = {key: value for key, value in spec.items() if key != "title"}
    drawing = _svg(_unmeasured(_text({**bare, "background": "transparent", "padding": 0})))
    return _COLOUR.sub(_token, _UNMEASURED.sub(r'font-size="\1px"', _FONT.sub("", drawing)))


@lru_cache(maxsize=1)
def draws_chinese() -> bool:
    """Whether two different characters come out differently: without a font both are the same gap or box."""
    one, other = (
        _vl_convert().svg_to_png(
            '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="30">'
            f'<text x="3" y="24" font-size="22" font-family="sans-serif">{letter}</text></svg>'
        )
        for letter in "语音"
    )
    return bool(one != other)


def _is_chinese(text: str) -> bool:
    return any(map(is_wide, text))


def _token(found: re.Match[str]) -> str:
    name, colour = found.groups()
    token = _TOKENS.get(colour)
    return f'{name}="var(--{token}, {colour})"' if token else found.group()


def _unmeasured(text: str) -> str:
    """The specification with text sizes below 0, turned back in the drawing.

    Vega asks the font engine for the width of every text, 2 ms each, only to know how large the drawing is;
    of a text without a height it does not. Frames keep the room here, and nothing else hangs on widths.
    """
    return _SIZE.sub(r"\1-", text)


def _text(spec: Spec) -> str:
    return json.dumps(_drawable(spec), ensure_ascii=False)


def _drawable(part: Any) -> Any:
    """The specification without what the engine dies of: it takes the whole process with it, or raises.

    Its fonts panic at characters that XML has no place for; its reader knows no numbers beyond JSON's.
    """
    kind = type(part)
    if kind is int or kind is bool or part is None:  # most of a specification
        return part
    if kind is str:
        return _word(part)
    if isinstance(part, dict):
        return {_drawable(key): _drawable(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_drawable(one) for one in part]
    if isinstance(part, str):
        return _word(str(part))
    return None if isinstance(part, float) and not math.isfinite(part) else part


@lru_cache(maxsize=2_000)
def _word(text: str) -> str:
    return cleaned(text)[:LONGEST]


@lru_cache(maxsize=KEPT)
def _svg(text: str) -> str:
    drawing: str = _vl_convert().vegalite_to_svg(text, allowed_base_urls=[])
    return drawing


def _vl_convert() -> Any:
    # Loaded when the first figure is drawn: most processes never draw one.
    import vl_convert

    return vl_convert

"""Template tags of the player: the two lanes of turns, the dots of a round, a time as minutes and seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.translation import gettext as _

register = template.Library()

GAP = 0.25  # per cent of the length kept free between two blocks, so that neighbours stay apart


@register.filter
def clock(seconds: float | None) -> str:
    """``34.1`` → ``0:34``; whole seconds, as a player shows them."""
    whole = int(seconds or 0)
    return f"{whole // 60}:{whole % 60:02d}"


@register.inclusion_tag("components/_dots.html")
def dots(position: int, of: int) -> dict[str, Any]:
    """One dot per conversation of a round: behind, here, ahead."""
    marks = ["done" if n < position else "now" if n == position else "" for n in range(1, of + 1)]
    return {"position": position, "of": of, "marks": marks}


@register.inclusion_tag("components/_lanes.html")
def lanes(
    turns: Sequence[Mapping[str, Any]],
    length: float,
    ranges: Sequence[Sequence[float]] = (),
    seek: bool = False,
) -> dict[str, Any]:
    """The flat time line: ``turns`` as in the trial (who, start, end), ``ranges`` those heard; seconds."""
    length = length or 1.0
    blocks = [
        {
            "lane": "a" if turn["who"] == "A" else "b",
            "y": "0%" if turn["who"] == "A" else "53%",
            "x": f"{100 * turn['start'] / length:.2f}%",
            "width": f"{max(100 * (turn['end'] - turn['start']) / length - GAP, 0.5):.2f}%",
        }
        for turn in turns
    ]
    stretches = []
    for first, last in ranges:
        # At either end a little more, so that the outline is filled too.
        start = 100 * first / length - (1 if first < 0.1 else 0)
        end = 100 * last / length + (1 if last > length - 0.1 else 0)
        stretches.append({"x": f"{start:.2f}%", "width": f"{end - start:.2f}%"})
    position = min(max((end for _start, end in ranges), default=0.0), length)
    label = _("Turns of A and B: %(turns)s turns, %(seconds)s seconds") % {
        "turns": len(blocks),
        "seconds": round(length),
    }
    return {
        "blocks": blocks,
        "stretches": stretches,
        "position": position,
        "at": f"{100 * position / length:.2f}%",
        "length": length,
        "seek": seek,
        "label": label,
    }

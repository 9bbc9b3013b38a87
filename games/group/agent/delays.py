"""How long an agent takes, from its data: looking at the room, reading, typing, voting. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from django.utils.translation import gettext_lazy as _

from turingsite.errors import Invalid

#: A Chinese character counts as a word, as does a run of other letters and digits.
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")

Pair = tuple[float, float]

_NUMBERS = ("mean", "sd", "words_per_second", "longest")
_PAIRS = ("first", "look", "read", "vote")


@dataclass(frozen=True)
class Delays:
    """Seconds. A pair is the shortest and the longest of an even draw.

    Typing takes N(``mean``, ``sd``) for each character, or ``words_per_second`` where that is set, never
    longer than ``longest``. ``first``: from the beginning of a discussion to the first message of the round.
    ``look``: between two looks at the room. ``read``: what was written last, before typing begins.
    ``vote``: from the beginning of the vote.
    """

    mean: float = 0.3
    sd: float = 0.03
    words_per_second: float | None = None
    longest: float = 12.0
    first: Pair = (3.0, 14.0)
    look: Pair = (1.5, 5.0)
    read: Pair = (0.8, 2.5)
    vote: Pair = (4.0, 18.0)

    def typing(self, text: str, chance: Random) -> float:
        """Seconds to type ``text``."""
        if self.words_per_second:
            seconds = len(_WORD.findall(text)) / self.words_per_second
        else:
            seconds = max(0.0, chance.gauss(self.mean, self.sd)) * len(text)
        return min(seconds, self.longest)

    def voting(self, seconds: float | None, chance: Random) -> float:
        """Seconds from the beginning of a vote of so many ``seconds``; always within its first two thirds."""
        last = self.vote[1] if seconds is None else min(self.vote[1], seconds * 2 / 3)
        return between((min(self.vote[0], last / 2), last), chance)


def between(pair: Pair, chance: Random) -> float:
    return chance.uniform(*pair)


def delays_of(data: Mapping[str, Any]) -> Delays:
    """Delays from an agent's data, what is absent as it is by default; Invalid ``bad_delays``."""
    typing = data.get("typing", {})
    pairs = {name: value for name, value in data.items() if name != "typing"}
    if not isinstance(typing, Mapping) or set(typing) - set(_NUMBERS) or set(pairs) - set(_PAIRS):
        raise _bad()
    if not all(_is_number(value) for value in typing.values()) or not all(map(_is_pair, pairs.values())):
        raise _bad()
    values: dict[str, Any] = {name: (float(low), float(high)) for name, (low, high) in pairs.items()}
    found = replace(Delays(), **typing, **values)
    if found.look[0] <= 0 or found.words_per_second == 0:
        raise _bad()
    return found


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(map(_is_number, value))
        and value[0] <= value[1]
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 600


def _bad() -> Invalid:
    return Invalid("bad_delays", _("The delays of this agent cannot be read."))

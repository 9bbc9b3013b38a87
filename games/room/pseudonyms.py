"""The names people play under: trees, which say nothing of sex, age, origin or who is behind them."""

from __future__ import annotations

from collections.abc import Mapping

from studies.models import Language

#: Short, of one word, with different beginnings as far as it goes, so that nobody mixes two of them up.
NAMES: Mapping[str, tuple[str, ...]] = {
    Language.EN: (
        "Alder",
        "Aspen",
        "Birch",
        "Cedar",
        "Elm",
        "Fir",
        "Hazel",
        "Juniper",
        "Larch",
        "Linden",
        "Maple",
        "Oak",
        "Pine",
        "Poplar",
        "Rowan",
        "Spruce",
        "Walnut",
        "Willow",
        "Yew",
    ),
    Language.ZH: (
        "松树",
        "柏树",
        "杉树",
        "柳树",
        "杨树",
        "榆树",
        "槐树",
        "枫树",
        "桦树",
        "橡树",
        "梧桐",
        "银杏",
        "樟树",
        "榕树",
        "桑树",
        "椿树",
        "楠木",
        "桉树",
        "榉树",
    ),
}


def names(language: str) -> tuple[str, ...]:
    """The names of a language; English where it has none of its own."""
    return NAMES.get(language, NAMES[Language.EN])

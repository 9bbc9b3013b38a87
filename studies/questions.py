"""The questionnaire engine's pure part: what a question's scale is, and how it reads in one language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECLINE = "prefer_not"
DECLINE_LABEL = {"en": "Prefer not to say", "zh": "不愿透露"}
CLOSED_KINDS = ("single", "multi", "scale")


def scale_of(question: Mapping[str, Any]) -> list[str]:
    """The values on offer, in order, declining last; empty for free text."""
    if question["kind"] not in CLOSED_KINDS:
        return []
    return [str(option["value"]) for option in question["options"]] + [DECLINE]


def choices_of(question: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """Value and label of every option in ``language``, "Prefer not to say" last."""
    options = [
        (str(option["value"]), option["label"].get(language) or option["label"]["en"])
        for option in question["options"]
    ]
    return [*options, (DECLINE, DECLINE_LABEL.get(language, DECLINE_LABEL["en"]))]

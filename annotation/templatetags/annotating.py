"""Template tags of the annotation's work page: categories as cards, with what was scored so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import template

register = template.Library()

STEPS = ("1", "2", "3", "4", "5")


@register.simple_tag
def score_cards(
    categories: Sequence[Mapping[str, Any]],
    scores: Mapping[str, Mapping[str, Any]],
    scale: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """One card per category: its rows with steps, version, remark. ``here`` marks the first unfinished one.

    ``scores`` maps a dimension's key to value (0: no evidence), version, and ``typed`` where it is not stored
    (and does not count as scored); ``scale`` maps a step to its words.
    """
    cards: list[dict[str, Any]] = []
    for category in categories:
        rows = [_row(one, scores.get(one["key"]), scale, errors or {}) for one in category["dimensions"]]
        scored = [row for row in rows if row["stored"]]
        cards.append({**category, "rows": rows, "scored": len(scored), "of": len(rows)})
    for card in cards:
        card["done"] = card["scored"] == card["of"]
    here = next((card for card in cards if not card["done"]), None)
    if here is not None:
        here["here"] = True
        next(row for row in here["rows"] if not row["stored"])["here"] = True
    return cards


def _row(
    dimension: Mapping[str, Any],
    score: Mapping[str, Any] | None,
    scale: Mapping[str, str],
    errors: Mapping[str, str],
) -> dict[str, Any]:
    value = None if score is None else int(score["value"])
    ends = {"1": dimension["low"], "5": dimension["high"]}
    steps = [
        {"value": step, "words": ends.get(step) or scale.get(step, ""), "checked": value == int(step)}
        for step in STEPS
    ]
    return {
        **dimension,
        "value": value,
        "stored": score is not None and not score.get("typed"),
        "shown": "" if value is None else str(value or "–"),
        "version": 0 if score is None else score["version"],
        "steps": steps,
        "no_evidence": value == 0,
        "error": errors.get(dimension["key"], ""),
    }


@register.simple_tag
def scored_of(cards: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many dimensions have a score, of how many."""
    return {"scored": sum(card["scored"] for card in cards), "of": sum(card["of"] for card in cards)}


@register.filter
def seconds_of(turn: Mapping[str, float]) -> int:
    """Length of a turn in whole seconds, at least one."""
    return max(round(turn["end"] - turn["start"]), 1)

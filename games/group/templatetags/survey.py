"""A question with five steps as a row of five, its poles below; other questions are drawn as everywhere."""

from __future__ import annotations

from typing import Any

from django import forms, template

from studies.questions import DECLINE

register = template.Library()

STEPS = ["1", "2", "3", "4", "5"]


@register.filter
def is_scale(field: forms.BoundField) -> bool:
    """Whether the question is answered on five steps, numbered from one."""
    choices = getattr(field.field, "choices", [])
    is_single = not isinstance(field.field, forms.MultipleChoiceField)
    return is_single and [value for value, _label in choices if value != DECLINE] == STEPS


@register.inclusion_tag("group/_scale.html")
def scale(field: forms.BoundField) -> dict[str, Any]:
    """Five steps and a way out. A label such as "1 – not at all" names its pole after the dash."""
    labels = {value: str(label) for value, label in getattr(field.field, "choices", [])}
    poles = {value: labels[value].removeprefix(value).lstrip(" –—-:") for value in STEPS}
    return {
        "field": field,
        "chosen": field.value(),
        "steps": [{"value": value, "words": poles[value]} for value in STEPS],
        "low": poles[STEPS[0]],
        "high": poles[STEPS[-1]],
        "decline": {"value": DECLINE, "label": labels[DECLINE]} if DECLINE in labels else None,
    }

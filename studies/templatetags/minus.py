"""Numbers below zero in templates."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def minus(number: str) -> str:
    """A number that is written already, with a minus sign for its hyphen: {{ off|floatformat:2|minus }}."""
    return f"\u2212{number[1:]}" if number.startswith("-") else number

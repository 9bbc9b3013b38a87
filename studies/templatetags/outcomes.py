"""Counts of outcomes in templates."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

from studies.outcomes import counted_words

register = template.Library()


@register.filter
def counted(counts: Mapping[str, int]) -> str:
    """Counts by sort, in words: {{ plan.first.counts|counted }}."""
    return counted_words(counts)

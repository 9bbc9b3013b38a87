"""Amounts of money in templates."""

from __future__ import annotations

from decimal import Decimal

from django import template

from studies import money as words

register = template.Library()


@register.filter
def money(amount: Decimal | float, currency: str) -> str:
    """``amount`` with its currency, as everywhere: {{ pay|money:study.currency }}."""
    return words.money(amount, currency)

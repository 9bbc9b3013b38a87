"""Amounts of money in words, the same on every page."""

from __future__ import annotations

from decimal import Decimal

GAP = "\u00a0"  # an amount is never parted from its currency at the end of a line


def money(amount: Decimal | float, currency: str) -> str:
    """Two decimals behind the currency: ``GBP 12.00`` with a no-break space, ``£12.00`` after a sign."""
    gap = GAP if currency[-1:].isalpha() else ""
    return f"{currency}{gap}{amount:.2f}"

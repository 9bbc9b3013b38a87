"""What a score says, apart from who gave it on what."""

from __future__ import annotations

from typing import NamedTuple


class Scored(NamedTuple):
    """1 to 5, and whether there was evidence for it; 3 where there was none, as scores are stored."""

    value: int
    evidence: bool

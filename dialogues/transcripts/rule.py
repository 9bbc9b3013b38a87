"""One rule of ``disclosure``."""

from __future__ import annotations

import re
from typing import NamedTuple

DISCLOSURE, DENIAL = "disclosure", "denial"


class Rule(NamedTuple):
    """``id`` is stored with every flag it raised; ``sort`` says what its words mean."""

    id: str
    sort: str
    pattern: re.Pattern[str]

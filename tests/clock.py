"""The time every service sees, moved when a test says so. The fixture ``clock`` gives it to all tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class Clock:
    """It stands still between calls of ``pass_``."""

    def __init__(self, travel: Any) -> None:
        self.travel = travel

    def pass_(self, seconds: float) -> None:
        self.travel.shift(timedelta(seconds=seconds))

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

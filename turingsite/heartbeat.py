"""A sign that the clock sends tasks and a worker does them: a file below VAR_DIR that a task touches."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

EVERY = 30  # seconds
LATE = 120  # seconds after which nobody can say that it is still coming


def path() -> Path:
    return Path(settings.VAR_DIR) / "heartbeat"


def beat() -> None:
    """Note that a scheduled task has been done now."""
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.utime(file)


def age(now: datetime) -> float | None:
    """Seconds since the last one; None where there was none yet."""
    try:
        last = path().stat().st_mtime
    except OSError:
        return None
    return max(0.0, (now - datetime.fromtimestamp(last, UTC)).total_seconds())

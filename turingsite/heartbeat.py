"""Signs of life: files below VAR_DIR that are touched, by a scheduled task and by the agents' runner."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

EVERY = 30  # seconds
LATE = 120  # seconds after which nobody can say that it is still coming

TASKS = "heartbeat"  # the clock sends tasks and a worker does them
AGENTS = "heartbeat-agents"  # a runner plays the agents of group games; every ten seconds
AGENTS_LATE = 60


def path(name: str = TASKS) -> Path:
    return Path(settings.VAR_DIR) / name


def beat(name: str = TASKS) -> None:
    """Note that it has been done now."""
    file = path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.utime(file)


def age(now: datetime, name: str = TASKS) -> float | None:
    """Seconds since the last one; None where there was none yet."""
    try:
        last = path(name).stat().st_mtime
    except OSError:
        return None
    return max(0.0, (now - datetime.fromtimestamp(last, UTC)).total_seconds())

"""Wake a worker after a row is written. A broker that is silent loses nothing: a clock finds the row."""

from __future__ import annotations

from typing import Any

from django.db import transaction


def wake(task: Any, row: int) -> None:
    transaction.on_commit(lambda: task.apply_async((row,), retry=False), robust=True)

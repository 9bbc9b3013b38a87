"""Celery's edge of the group game."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from games.group.services import calls, keeping, leaving, lobby, settling


@shared_task
def sweep_lobbies() -> None:
    """Tidy waiting rooms, start what can start, call bots where they are wanted. Runs on a clock."""
    now = timezone.now()
    lobby.sweep(now)
    calls.call_missing(now)


@shared_task
def sweep_games() -> None:
    """Note who has gone, close votes that wait for nobody, end people's part, keep talks. Runs on a clock."""
    now = timezone.now()
    leaving.sweep_seats(now)
    leaving.sweep_votes(now)
    leaving.sweep_closed(now)
    settling.sweep_ends(now)
    keeping.sweep_talks(now)

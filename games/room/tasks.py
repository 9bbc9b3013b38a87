"""Celery's edge of the rooms."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from games.room import services


@shared_task
def sweep_rooms() -> None:
    """Move on the rooms whose time is up and that nobody has noticed. Runs on a clock."""
    services.sweep(now=timezone.now())

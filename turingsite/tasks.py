"""Celery's edges of the site itself."""

from __future__ import annotations

from celery import shared_task

from turingsite import heartbeat


@shared_task
def beat() -> None:
    """Show that the clock and a worker are there. Runs on a clock."""
    heartbeat.beat()

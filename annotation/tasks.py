"""Celery's edge of the annotation."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from annotation.services import leases


@shared_task
def sweep_leases() -> None:
    """Take back batches that were left alone. Runs on a clock."""
    leases.sweep(now=timezone.now())

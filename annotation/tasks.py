"""Celery's edge of the annotation."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from annotation.services import leases, review_cases


@shared_task
def sweep_leases() -> None:
    """Take back batches that were left alone. Runs on a clock."""
    leases.sweep(now=timezone.now())


@shared_task
def sweep_reviews() -> None:
    """Bring the cases of the expert review up to date, in every study. Runs on a clock."""
    review_cases.sweep(now=timezone.now())

"""Celery's edges of this floor. Tasks take ids, call one service, and may come twice."""

from __future__ import annotations

from celery import shared_task

from studies import export_jobs


@shared_task
def run_export(job_id: int) -> None:
    """Make one export; nothing happens where somebody else has it."""
    export_jobs.run(job_id=job_id)


@shared_task
def sweep_exports() -> None:
    """Send the exports that wait, also those whose worker went away; remove old files. Runs on a clock."""
    export_jobs.remove_old()
    for job_id in export_jobs.waiting():
        run_export.delay(job_id)

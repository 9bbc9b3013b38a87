"""Celery's edges of the corpus. Tasks take ids, call one service, and may come twice."""

from __future__ import annotations

from celery import shared_task

from dialogues import audits
from dialogues.importing import services as importing
from dialogues.importing import uploads
from dialogues.models import ImportBatch
from dialogues.processing import services as processing


@shared_task
def process_dialogue(job_id: int) -> None:
    """Do one processing job; nothing happens where somebody else has it."""
    processing.run(job_id=job_id)


@shared_task
def sweep_processing() -> None:
    """Send the jobs that wait, also those whose worker went away. Runs on a clock, and after an import."""
    for job_id in processing.sweep():
        process_dialogue.delay(job_id)


@shared_task
def tidy_play_files() -> None:
    """Remove playing files that a killed worker left without a row. Runs on a clock."""
    processing.tidy_files()


@shared_task
def run_import(batch_id: int) -> None:
    """Check or run one uploaded import, then send its jobs; nothing happens where somebody else has it."""
    batch = ImportBatch.objects.get(pk=batch_id)
    step = importing.check_batch if batch.state == ImportBatch.State.PREVIEW else importing.run_batch
    step(batch_id=batch_id, folders=importing.upload_folders(batch))
    batch.refresh_from_db()
    if batch.state == ImportBatch.State.DONE:
        uploads.discard(batch)
    sweep_processing.delay()


@shared_task
def run_audit(audit_id: int) -> None:
    """Make one nuisance audit; nothing happens where somebody else has it."""
    audits.run(audit_id=audit_id)


@shared_task
def sweep_audits() -> None:
    """Send the audits that wait, also those whose worker went away. Runs on a clock."""
    for audit_id in audits.waiting():
        run_audit.delay(audit_id)


@shared_task
def sweep_imports() -> None:
    """Send the imports that wait, also those whose worker went away; close those of ended commands."""
    importing.close_left_behind()
    for batch in importing.drop_old_previews():
        uploads.discard(batch)
    for batch_id in importing.waiting_batches():
        run_import.delay(batch_id)

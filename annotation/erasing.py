"""This app's part of an erasure: scores, batches and times, and what reviewers said of them."""

from __future__ import annotations

from annotation.models import (
    Annotator,
    Attempt,
    Batch,
    BatchItem,
    GuidelineConfirmation,
    Resolution,
    ReviewDecision,
    Score,
    WorkSession,
)
from studies.models import Participant
from studies.registry import Eraser, erasers


def erase_annotator(participant: Participant) -> int:
    """Remove what hangs on the scores first, then scores (revised before raw), items, batches, the rest."""
    theirs = {"rater__participant": participant}
    whose = {"annotator__participant": participant}
    removed = Resolution.objects.filter(score__rater__participant=participant).delete()[0]
    removed += ReviewDecision.objects.filter(score__rater__participant=participant).delete()[0]
    removed += Score.objects.filter(**theirs, revises__isnull=False).delete()[0]
    removed += Score.objects.filter(**theirs).delete()[0]
    removed += BatchItem.objects.filter(**theirs).delete()[0]
    removed += Batch.objects.filter(**whose).delete()[0]
    removed += Attempt.objects.filter(**whose).delete()[0]
    removed += GuidelineConfirmation.objects.filter(**whose).delete()[0]
    removed += WorkSession.objects.filter(**whose).delete()[0]
    removed += Annotator.objects.filter(participant=participant).delete()[0]
    return removed


def register() -> None:
    """Called once when the app starts; items hold on to exposures and verdicts, so they go before those."""
    erasers.add(
        Eraser(
            key="annotation",
            models=(
                "annotation.Annotator",
                "annotation.Attempt",
                "annotation.Batch",
                "annotation.BatchItem",
                "annotation.GuidelineConfirmation",
                "annotation.Resolution",
                "annotation.ReviewDecision",
                "annotation.Score",
                "annotation.WorkSession",
            ),
            erase=erase_annotator,
        )
    )

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
from annotation.services.references import forget_rater
from studies.models import AuditLine, Participant
from studies.registry import Eraser, erasers


def erase_annotator(participant: Participant) -> int:
    """Remove what hangs on the scores first, then scores (revised before raw), items, batches, the rest.

    What became known scores by theirs is reckoned anew without them; lines of the audit trail on them stay,
    without their code.
    """
    theirs = {"rater__participant": participant}
    whose = {"annotator__participant": participant}
    removed = Resolution.objects.filter(score__rater__participant=participant).delete()[0]
    removed += ReviewDecision.objects.filter(score__rater__participant=participant).delete()[0]
    study, scored = participant.study, set(Score.objects.filter(**theirs).values_list("dialogue", flat=True))
    removed += Score.objects.filter(**theirs, revises__isnull=False).delete()[0]
    removed += Score.objects.filter(**theirs).delete()[0]
    removed += forget_rater(study, scored)
    AuditLine.objects.filter(study=study, target=participant.code).update(target="")
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
                "annotation.ReferenceDialogue",
                "annotation.ReferenceScore",
                "annotation.Resolution",
                "annotation.ReviewDecision",
                "annotation.Score",
                "annotation.WorkSession",
            ),
            erase=erase_annotator,
        )
    )

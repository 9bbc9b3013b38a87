"""Models of the corpus, no I/O. Imports go corpus ← work and corpus ← opinions; audits stand apart.

``corpus``: what exists; ``work``: jobs and imports; ``opinions``: what raters meet and say; ``audits``: what
but the talk tells the kinds apart, and why a study may open all the same.
"""

from dialogues.models.audits import AuditAnswer, StimulusAudit
from dialogues.models.corpus import (
    Dialogue,
    Kind,
    Modality,
    Nature,
    Party,
    Recording,
    Speaker,
    Strategy,
    System,
    Topic,
    Turn,
    TurnFile,
)
from dialogues.models.opinions import Choice, Exposure, Flag, StudyItem, Verdict
from dialogues.models.work import ImportBatch, ImportRow, ProcessingJob

__all__ = [
    "AuditAnswer",
    "Choice",
    "Dialogue",
    "Exposure",
    "Flag",
    "ImportBatch",
    "ImportRow",
    "Kind",
    "Modality",
    "Nature",
    "Party",
    "ProcessingJob",
    "Recording",
    "Speaker",
    "StimulusAudit",
    "Strategy",
    "StudyItem",
    "System",
    "Topic",
    "Turn",
    "TurnFile",
    "Verdict",
]

"""Models of the corpus, no I/O. Imports go corpus ← work and corpus ← opinions.

``corpus``: what exists; ``work``: jobs and imports; ``opinions``: what raters meet and say.
"""

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
)
from dialogues.models.opinions import Choice, Exposure, Flag, StudyItem, Verdict
from dialogues.models.work import ImportBatch, ImportRow, ProcessingJob

__all__ = [
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
    "Strategy",
    "StudyItem",
    "System",
    "Topic",
    "Turn",
    "Verdict",
]

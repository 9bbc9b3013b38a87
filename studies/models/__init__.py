"""Models of studies and people, no I/O. Imports go study ← people ← questionnaires."""

from studies.models.people import (
    Consent,
    MachineConfig,
    Participant,
    ParticipantQuerySet,
    Rater,
    TurnedAway,
)
from studies.models.questionnaires import (
    Answer,
    Questionnaire,
)
from studies.models.study import (
    AuditLine,
    Completion,
    ConsentText,
    EndState,
    ExportFile,
    Language,
    Study,
    StudyMember,
    StudyQuerySet,
    draw_seed,
)

__all__ = [
    "Answer",
    "AuditLine",
    "Completion",
    "Consent",
    "ConsentText",
    "EndState",
    "ExportFile",
    "Language",
    "MachineConfig",
    "Participant",
    "ParticipantQuerySet",
    "Questionnaire",
    "Rater",
    "Study",
    "StudyMember",
    "StudyQuerySet",
    "TurnedAway",
    "draw_seed",
]

"""Models of studies and people, no I/O. Imports: study ← people ← questionnaires, study ← plan, exporting."""

from studies.models.exporting import ExportJob
from studies.models.people import (
    Consent,
    MachineConfig,
    Participant,
    ParticipantQuerySet,
    Rater,
    TurnedAway,
)
from studies.models.plan import Plan
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
    "ExportJob",
    "Language",
    "MachineConfig",
    "Participant",
    "ParticipantQuerySet",
    "Plan",
    "Questionnaire",
    "Rater",
    "Study",
    "StudyMember",
    "StudyQuerySet",
    "TurnedAway",
    "draw_seed",
]

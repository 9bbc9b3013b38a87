"""``joining``: pages until consent. ``taking_part``: from there to the end. ``home``: the front page."""

from studies.views.home import home
from studies.views.joining import age, consent, consent_copy, resume, welcome
from studies.views.taking_part import debrief, go, language, leave, questionnaire, withdraw

__all__ = [
    "age",
    "consent",
    "consent_copy",
    "debrief",
    "go",
    "home",
    "language",
    "leave",
    "questionnaire",
    "resume",
    "welcome",
    "withdraw",
]

"""What participants say about themselves: the language they judge in, and answers to questionnaires."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies.models import Answer, Participant, Questionnaire
from studies.questions import scale_of
from studies.services.holding import hold
from turingsite.errors import Invalid


@transaction.atomic
def choose_language(*, participant: Participant, language: str) -> None:
    """Set the language the person judges in; Invalid for one the study does not offer."""
    hold(participant=participant)
    if language not in participant.study.languages:
        message = _("Choose one of the languages on this page.")
        raise Invalid("unknown_language", message, fields={"language": message})
    Participant.objects.filter(pk=participant.pk).update(judging_language=language)
    participant.judging_language = language


def note_interface_language(*, participant: Participant, language: str) -> None:
    """Keep the interface language the person chose last, for the day they come back on another device."""
    if participant.interface_language != language and not participant.is_gone:
        Participant.objects.filter(pk=participant.pk).update(interface_language=language)
        participant.interface_language = language


@transaction.atomic
def record_answers(
    *,
    participant: Participant,
    questionnaire: Questionnaire,
    values: Mapping[str, Any],
    language: str,
    about: str = "",
    now: datetime | None = None,
) -> None:
    """Store one answer per question with the scale it was given on. Sent again, the later answer counts.

    Every question gets a row, an empty one where an optional question was left open, so that answered is
    answered.
    """
    hold(participant=participant)
    if questionnaire.study_id != participant.study_id:
        raise Invalid("other_study", _("These questions belong to another study."))
    now = now or timezone.now()
    missing = [
        q["key"]
        for q in questionnaire.questions
        if q.get("required") and values.get(q["key"]) in (None, "", [])
    ]
    if missing:
        raise Invalid(
            "missing_answers", _("Please answer every question."), fields=dict.fromkeys(missing, "")
        )
    Answer.objects.bulk_create(
        [
            Answer(
                rater=participant.rater,
                questionnaire=questionnaire,
                question=question["key"],
                value=_said(values.get(question["key"])),
                scale=scale_of(question),
                language=language,
                about=about,
                answered_at=now,
            )
            for question in questionnaire.questions
        ],
        update_conflicts=True,
        unique_fields=["rater", "questionnaire", "question", "about"],
        update_fields=["value", "scale", "language", "answered_at"],
    )


def _said(value: Any) -> Any:
    """As stored: what was left open is an empty text, as forms have it."""
    return "" if value is None else value

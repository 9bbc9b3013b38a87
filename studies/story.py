"""What happened to one person in a study, moment by moment: joined, agreed, answered, ended."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import Max
from django.utils.translation import gettext as _

from studies.models import Participant


class Moment(NamedTuple):
    """One line of a time line; ``trouble``: it may be why the person writes."""

    at: datetime
    what: str
    more: str = ""
    trouble: bool = False


def moments_of(participant: Participant) -> Iterator[Moment]:
    """From the way in to the end, without the activities."""
    yield Moment(participant.joined_at, _("Opened the study"))
    consent = getattr(participant, "consent", None)
    if participant.consented_at is not None:
        version = _("text version %(n)s") % {"n": consent.text.version} if consent is not None else ""
        yield Moment(participant.consented_at, _("Agreed to take part"), version)
    sheets = participant.rater.answers.values("questionnaire__key").annotate(at=Max("answered_at")).order_by()
    for sheet in sheets:
        yield Moment(
            sheet["at"], _("Answered the questionnaire “%(key)s”") % {"key": sheet["questionnaire__key"]}
        )
    if participant.completed_at is not None:
        yield Moment(participant.completed_at, _("Ended"), str(participant.get_end_state_display()))
    if participant.withdrawn_at is not None:
        yield Moment(participant.withdrawn_at, _("Withdrew; what was given is kept"))

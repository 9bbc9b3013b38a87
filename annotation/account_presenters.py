"""The page of an annotator with a login: their studies, how far they are, minutes and pay so far."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import AnnotationSettings, Annotator
from annotation.selectors import NOTHING_DONE, work_done
from annotation.selectors_raters import earned
from annotation.services.annotators import annotates
from studies.models import Participant, Study

States = Annotator.State


def home_page(user: Any) -> dict[str, Any]:
    """The studies in which this account annotates, the newest first."""
    people = (
        Participant.objects.filter(user=user, erased_at=None, study__annotation__isnull=False)
        .select_related("study__annotation", "annotator")
        .order_by("-joined_at", "-pk")
    )
    return {"studies": [_card(one) for one in people if annotates(one)], "name": user.get_username()}


def _card(person: Participant) -> dict[str, Any]:
    study = person.study
    settings: AnnotationSettings = study.annotation
    annotator: Annotator | None = getattr(person, "annotator", None)
    done = work_done(annotator) if annotator is not None else NOTHING_DONE
    return {
        "title": study.title,
        "where": _where(person, annotator),
        "may_go_on": _may_go_on(person),
        "has_ended": bool(person.end_state) and not person.is_gone,
        "batches": done["batches"],
        "most": settings.max_batches,
        "minutes": done["minutes"],
        "calibration": done["calibration"],
        "pay": "" if annotator is None else earned(annotator, settings),
        "go": reverse("annotators:go_on", args=[study.slug]),
    }


def _may_go_on(person: Participant) -> bool:
    """Whether going on leads to more work."""
    has_ended = bool(person.end_state) or person.is_gone
    return not has_ended and person.study.status not in (Study.Status.CLOSED, Study.Status.DRAFT)


def _where(person: Participant, annotator: Annotator | None) -> str:
    """Where the person is, in words."""
    if person.is_gone:
        return _("You have left this study.")
    if annotator is not None and annotator.state == States.FAILED:
        return _("Calibration was not passed.")
    if person.end_state:
        return _("Finished")
    if person.study.status == Study.Status.CLOSED:
        return _("The study is closed.")
    if person.study.status == Study.Status.PAUSED:
        return _("The study is paused.")
    if annotator is not None and annotator.paused_at is not None:
        return _("Your work is paused: %(why)s") % {"why": annotator.paused_reason}
    if annotator is None or annotator.state == States.READING:
        return _("First the guidelines.")
    if annotator.state == States.CALIBRATING:
        return _("In calibration.")
    return _("At work.")

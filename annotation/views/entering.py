"""What every page of an annotator asks first: who comes, whether they annotate, what comes before it."""

from __future__ import annotations

from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from annotation.models import AnnotationSettings, Annotator
from annotation.services.annotators import annotator_of
from annotation.services.settings import settings_of
from studies import access, selectors
from studies.models import Participant
from studies.services import begin


class Entered(NamedTuple):
    """Somebody who annotates, past language and profile."""

    participant: Participant
    annotator: Annotator
    settings: AnnotationSettings


def entered(request: HttpRequest, slug: str, *, ended_ok: bool = False) -> Entered | HttpResponse:
    """Who sends this request, or the way to what comes before the annotation (language, profile).

    Raises what ``access.participant_of`` does, and NotFound ``no_annotation`` for people who don't annotate.
    """
    participant = access.participant_of(request, slug, paused_ok=True, ended_ok=ended_ok)
    annotator = annotator_of(participant, timezone.now())
    if participant.state == Participant.State.CONSENTED:
        step = selectors.position(participant)
        if step.name in ("language", selectors.PROFILE):
            return redirect(step.url)
        begin(participant=participant)
    settings = settings_of(participant.study)
    settings.study = participant.study
    return Entered(participant, annotator, settings)

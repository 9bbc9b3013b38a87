"""What texts say about the annotation in numbers, filled in from the study's settings: {batch_size}."""

from __future__ import annotations

from collections.abc import Mapping

from annotation.models import AnnotationSettings
from studies.models import Study

NAMES = ("batch_size",)


def places(study: Study, language: str) -> Mapping[str, str]:
    """``NAMES`` with their words: how many dialogues a batch has."""
    settings = AnnotationSettings.objects.filter(study=study).first() or AnnotationSettings(study=study)
    return {"batch_size": str(settings.batch_size)}

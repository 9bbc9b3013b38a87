"""Places that raters hold in a dialogue: how many a layer has, who holds them, one decision at a time."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import AnnotationSettings, BatchItem, Layer
from studies.models import Study

#: Pilot and test participants take places of their own, from here on: they work by the same rules and keep
#: nobody's place.
TRIAL_PLACES = 1000


def places_of(settings: AnnotationSettings, layer: str) -> int:
    """How many raters a dialogue gets in that layer."""
    return settings.expert_raters if layer == Layer.BLIND_EXPERT else settings.raters


def held_places(study: Study, layer: str, *, before: int = 0) -> QuerySet[BatchItem]:
    """The items that hold a place of a layer, counted from ``before``: those on trial have their own."""
    return BatchItem.objects.filter(
        study=study, layer=layer, place__gt=before, place__lte=before + TRIAL_PLACES
    )


def lock_places(settings: AnnotationSettings) -> None:
    """One at a time in a study decides who holds which place, until the end of the transaction. Whoever holds
    a person's row takes this after it.
    """
    AnnotationSettings.objects.select_for_update().get(pk=settings.pk)

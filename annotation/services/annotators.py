"""The annotator row: drawn once and kept. In which arm somebody works comes from their invitation."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from annotation.models import Annotator, Invitation, Layer
from annotation.services.settings import settings_of
from studies.assignment import seeded
from studies.models import Participant
from studies.services.holding import hold
from turingsite.errors import NotFound

ACTIVITY = "annotation"


def annotates(participant: Participant) -> bool:
    """Whether this person annotates: everybody does in the study, or they were invited to."""
    return ACTIVITY in (participant.activities or participant.study.activities)


def annotator_of(
    participant: Participant, now: datetime, *, invitation: Invitation | None = None
) -> Annotator:
    """The participant's annotator; made at the first call, with both orders drawn for good.

    ``invitation`` counts for a new row only. NotFound ``no_annotation`` for people who do not annotate, and
    in a study that doesn't; Gone for somebody who left.
    """
    if not annotates(participant):
        raise NotFound("no_annotation", _("There is nothing to annotate here for you."))
    found = Annotator.objects.filter(participant=participant).first()
    if found is None:
        found = _new_annotator(participant, now, invitation)
    found.participant = participant
    return found


@transaction.atomic
def _new_annotator(participant: Participant, now: datetime, invitation: Invitation | None) -> Annotator:
    """Made under the person's lock, as everything that hangs on them."""
    hold(participant=participant)
    study = participant.study
    keys = list(settings_of(study).taxonomy.categories.order_by("position").values_list("key", flat=True))
    seeded(study.seed, "categories", participant.code).shuffle(keys)
    annotator, _made = Annotator.objects.get_or_create(
        participant=participant,
        defaults={
            "invitation": invitation,
            "layer": invitation.layer if invitation else Layer.RAW,
            "category_order": keys,
            # The same draw as in the listening game: a person keeps the sides they know.
            "human_left": seeded(study.seed, "order", participant.code).random() < 0.5,
            "joined_at": now,
        },
    )
    return annotator

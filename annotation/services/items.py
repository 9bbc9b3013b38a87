"""The doors to an annotator's row and to one item of theirs, both locked while something is written."""

from __future__ import annotations

from datetime import datetime

from django.db.models import FilteredRelation, Q
from django.utils.translation import gettext_lazy as _

from annotation.models import AnnotationSettings, Annotator, BatchItem
from annotation.services.annotators import annotator_of
from dialogues.models import Exposure
from studies import codes
from studies.models import Participant
from studies.prepared import Prepared
from studies.services.holding import stay
from turingsite.errors import Conflict, NotFound

HEAVY = ("draw", "dialogue__peaks", "dialogue__quality", "dialogue__trouble")  # long, and not for raters

_SERVED = Prepared(
    lambda code, participant: (
        BatchItem.objects.select_for_update(of=("batch__annotator__participant", "batch", "self"))
        .annotate(
            session=FilteredRelation(
                "batch__annotator__sessions", condition=Q(batch__annotator__sessions__ended_at__isnull=True)
            )
        )
        .select_related("batch__annotator__participant", "exposure", "dialogue", "session")  # type: ignore[misc]
        .defer(*HEAVY)
        .filter(code=code, batch__annotator__participant=participant, opened_at__isnull=False)
    ),
    code="?code?",
    participant=-1,
)
_SETTINGS = Prepared(lambda study: AnnotationSettings.objects.filter(study=study), study=-1)


def settings_for(participant: Participant) -> AnnotationSettings:
    """How the person's study annotates; NotFound where it does not. Asked with every request."""
    found = _SETTINGS.get(study=participant.study_id)
    if found is None:
        raise NotFound("no_annotation", _("This study does not annotate."))
    found.study = participant.study
    return found


def locked_annotator(participant: Participant, now: datetime) -> Annotator:
    """The annotator, made where there is none, locked until the transaction ends; Gone for somebody who left.

    A draw reads what the person was given and then adds to it: two tabs doing so at once would make two
    batches. (SQLite has one writer at a time anyway.)
    """
    locked = Annotator.objects.select_related("participant").select_for_update(of=("participant", "self"))
    annotator = locked.filter(participant=participant).first()
    if annotator is None:
        annotator_of(participant, now)
        annotator = locked.get(participant=participant)
    stay(annotator.participant, participant)
    annotator.participant = participant
    return annotator


def access_item(participant: Participant, code: str) -> BatchItem:
    """The item of that code if it was shown to this person; locked, with its batch. NotFound otherwise,
    whoever it belongs to. Gone for somebody who left meanwhile.
    """
    item = _SERVED.get(code=code, participant=participant.pk)
    if item is None:
        raise NotFound("no_item", _("There is no such conversation here."))
    stay(item.batch.annotator.participant, participant)
    item.batch.annotator.participant = participant
    return item


def close_address(item: BatchItem) -> None:
    """The address by which the person heard the item is gone once they have left it, whatever it was for: one
    that went away later, when the dialogue is given once more, would tell that it comes.
    """
    Exposure.objects.filter(pk=item.exposure_id).update(token=codes.media_token())


def moved_on() -> Conflict:
    """Refusal of what belongs to an item that the person has left, perhaps in another tab."""
    return Conflict("moved_on", _("You have gone on to the next conversation."))

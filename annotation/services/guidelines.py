"""The guidelines are read to the end and confirmed, in the words that are shown; new words are read again."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.core import signing
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from annotation.models import AnnotationSettings, Annotator, Taxonomy
from annotation.services.settings import settings_of
from annotation.services.taxonomies import words_hash
from studies.services.holding import hold
from turingsite.errors import Conflict, Invalid

SALT = "annotation.guidelines"
LONGEST = 86_400  # seconds on the page that are noted at most


class Shown(NamedTuple):
    """Which words were shown, in which language ("en", "zh"), and when (seconds since the epoch)."""

    sha256: str
    language: str
    at: float


def hash_of(taxonomy: Taxonomy) -> str:
    """The hash of the words that are read now; that of a frozen taxonomy is kept with it."""
    return taxonomy.sha256 or words_hash(taxonomy)


def has_confirmed(annotator: Annotator, settings: AnnotationSettings) -> bool:
    """Whether this person confirmed the words of the study's taxonomy as they are now."""
    taxonomy = settings.taxonomy
    confirmations = annotator.confirmations.filter(taxonomy=taxonomy)
    return confirmations.filter(sha256=hash_of(taxonomy)).exists()


def stamp(taxonomy: Taxonomy, language: str, now: datetime) -> str:
    """What the page carries along, signed: which words it showed, and since when."""
    shown = Shown(hash_of(taxonomy), language, now.timestamp())
    return signing.dumps(list(shown), salt=SALT)


@transaction.atomic
def confirm_guidelines(*, annotator: Annotator, stamp: str, now: datetime) -> None:
    """Note that the words shown were read; the first time, the way to calibration or work is open.

    Confirmed twice, the first time stands. Invalid ``unreadable`` for a stamp that is not ours; Conflict
    ``new_guidelines`` where the words have changed since they were shown.
    """
    shown = _read(stamp)
    person = hold(participant=annotator.participant)
    settings = settings_of(person.study)
    if shown.sha256 != hash_of(settings.taxonomy):
        raise Conflict(
            "new_guidelines", _("The guidelines have changed while you read them. Please read them again.")
        )
    annotator.confirmations.get_or_create(
        taxonomy=settings.taxonomy,
        sha256=shown.sha256,
        defaults={
            "language": shown.language,
            "seconds": int(min(max(now.timestamp() - shown.at, 0), LONGEST)),
            "given_at": now,
        },
    )
    onwards = Annotator.State.CALIBRATING if settings.calibration else Annotator.State.WORKING
    Annotator.objects.filter(pk=annotator.pk, state=Annotator.State.READING).update(state=onwards)
    annotator.refresh_from_db(fields=["state"])


def _read(stamp: str) -> Shown:
    try:
        sha256, language, at = signing.loads(stamp, salt=SALT)
        return Shown(str(sha256), str(language)[:10], float(at))
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise Invalid("unreadable", _("Load the page again: what was sent cannot be read.")) from error

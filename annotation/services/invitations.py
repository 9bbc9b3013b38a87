"""Links by which people become annotators: made and closed on the desk."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Invitation, Layer
from annotation.services.settings import settings_of
from studies import audit
from studies.models import Study
from turingsite.errors import Invalid, NotFound

MOST_PLACES = 10_000
LONGEST_LABEL = 80
#: Arms that people are invited to: whoever sees the truth is a reviewer, with an account.
ARMS = (Layer.RAW, Layer.BLIND_EXPERT)


@transaction.atomic
def make_invitation(
    *, study: Study, label: str = "", layer: str = Layer.RAW, places: int = 0, user: Any = None
) -> Invitation:
    """A new link. ``places``: how many may join by it, 0: no limit. NotFound where nothing is annotated."""
    settings_of(study)
    wrong = {}
    if layer not in ARMS:
        wrong["layer"] = _("Choose an arm.")
    if not 0 <= places <= MOST_PLACES:
        wrong["places"] = _("Choose a number from 0 to %(most)s.") % {"most": MOST_PLACES}
    if len(label) > LONGEST_LABEL:
        wrong["label"] = _("At most %(n)s characters.") % {"n": LONGEST_LABEL}
    if wrong:
        raise Invalid("bad_invitation", _("Some of this can't be used."), fields=wrong)
    made = Invitation.objects.create(
        study=study, label=label.strip(), layer=layer, places=places, created_by=user
    )
    audit.record("invitation.made", study=study, user=user, target=made.code, arm=str(layer), places=places)
    return made


@transaction.atomic
def close_invitation(*, study: Study, code: str, user: Any = None, now: datetime | None = None) -> Invitation:
    """Nobody joins by it any more; who has joined goes on. Closed twice, the first time stands."""
    found = Invitation.objects.select_for_update().filter(study=study, code=code).first()
    if found is None:
        raise NotFound("no_invitation", _("There is no such invitation."))
    if found.closed_at is None:
        found.closed_at = now or timezone.now()
        found.save(update_fields=["closed_at"])
        audit.record("invitation.closed", study=study, user=user, target=found.code)
    return found

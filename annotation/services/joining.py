"""By an invitation people become annotators: newcomers with their consent, players of the study at once."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models import Annotator, Invitation
from annotation.services.annotators import ACTIVITY, annotator_of
from annotation.services.verdicts import leave_out_seen
from studies import registry
from studies.models import Participant, Study
from studies.services.holding import hold
from turingsite.errors import Conflict, Gone, NotFound

CLOSED, FULL = "closed", "full"
REFUSALS = {
    CLOSED: _("This invitation is closed. Nothing about you was stored."),
    FULL: _("All places of this invitation are taken. Nothing about you was stored."),
}


def access_invitation(study: Study, code: str) -> Invitation:
    """The invitation of that code; NotFound for any other text."""
    found = Invitation.objects.filter(study=study, code=code[:20]).first()
    if found is None:
        raise _unknown()
    return found


def refusal_of(invitation: Invitation) -> str:
    """Why nobody joins by it now: closed, full, or nothing."""
    if invitation.closed_at is not None:
        return CLOSED
    return FULL if invitation.places and invitation.annotators.count() >= invitation.places else ""


@transaction.atomic
def join(*, participant: Participant, code: str, user: Any = None, now: datetime | None = None) -> Annotator:
    """Make somebody of the study an annotator in the invitation's arm; who annotates already stays in theirs.

    They keep what they heard: no dialogue of the listening game comes again. ``user``: the account they are
    logged in with, which then leads back here. Conflict ``closed`` or ``full``; Gone for people who ended.
    """
    # Locked until the end: two people who come at once for the last place are counted one after the other.
    invitation = (
        Invitation.objects.select_for_update().filter(study=participant.study, code=code[:20]).first()
    )
    if invitation is None:
        raise _unknown()
    person = hold(participant=participant)
    if person.end_state:
        raise Gone("gone", _("You have finished this study. Thank you for your time."))
    link_account(person, user)
    found = Annotator.objects.filter(participant=person).first()
    if found is not None:
        return found
    if refused := refusal_of(invitation):
        raise Conflict(refused, REFUSALS[refused])
    person.activities = [ACTIVITY]
    person.save(update_fields=["activities"])
    participant.activities = person.activities
    return annotator_of(participant, now or timezone.now(), invitation=invitation)


def account_of(study: Study, user: Any) -> Participant | None:
    """The participation that belongs to an account in the study; None where it has none."""
    if not user.is_authenticated:
        return None
    return study.participants.present().select_related("study").filter(user=user).order_by("pk").first()


def arrive(participant: Participant, code: str, user: Any) -> None:
    """What the study's consent does with people who came by an invitation."""
    join(participant=participant, code=code, user=user)


def register() -> None:
    """Called once when the app starts."""
    registry.arrivals.add(registry.Arrival(key=ACTIVITY, arrive=arrive, activity=ACTIVITY))


@transaction.atomic
def link_account(person: Participant, user: Any) -> None:
    """Remember the account, where the person has none yet and the account nobody in this study. What the
    account knew from a review before the person scored it is left out.
    """
    if user is None or not user.is_authenticated or person.user_id is not None:
        return
    if account_of(person.study, user) is None:
        # What they finish at this moment comes before or after.
        Participant.objects.select_for_update(of=("self",)).get(pk=person.pk)
        person.user = user
        person.save(update_fields=["user"])
        leave_out_seen(person)


def _unknown() -> NotFound:
    return NotFound("no_invitation", _("There is no such invitation. A letter of the link may be missing."))

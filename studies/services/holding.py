"""The lock under which anything a participant sends is stored."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from studies.models import Participant, Study
from turingsite.errors import Gone


def hold(*, participant: Participant) -> Participant:
    """Lock the person's row until the transaction ends and return it fresh; Gone if they have left.

    A withdrawal takes the same lock: it comes before or after what is stored under it, never in between.
    """
    row = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if row.is_gone:
        raise Gone("gone", _("You have left this study. Nothing more is stored."))
    return row


def refuse_if_over(participant: Participant) -> None:
    """Gone where this person's answers may not be stored any more: withdrawn, finished, or the study has
    ended.
    """
    if participant.is_gone:
        raise Gone("gone", _("You have left this study. Nothing more is stored."))
    if participant.study.status in (Study.Status.CLOSED, Study.Status.DRAFT):
        raise Gone("gone", _("This study is closed. Thank you for your time."))
    if participant.end_state:
        raise Gone("gone", _("You have finished this study. Thank you for your time."))


def stay(now: Participant, participant: Participant) -> None:
    """Gone where the person, read anew as ``now`` under the lock, left while their request waited for it.

    A withdrawal locks the person before it touches what they gave, and so does all they send: whoever comes
    second waits, sees what the first one did, and neither holds what the other needs.
    """
    if now.is_gone or now.end_state:
        now.study = participant.study
        refuse_if_over(now)

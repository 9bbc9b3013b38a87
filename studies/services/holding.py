"""The lock under which anything a participant sends is stored."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from studies.models import Participant
from turingsite.errors import Gone


def hold(*, participant: Participant) -> Participant:
    """Lock the person's row until the transaction ends and return it fresh; Gone if they have left.

    A withdrawal takes the same lock: it comes before or after what is stored under it, never in between.
    """
    row = Participant.objects.select_for_update().get(pk=participant.pk)
    if row.is_gone:
        raise Gone("gone", _("You have left this study. Nothing more is stored."))
    return row

"""Calls for bots: rows that a runner claims. By somebody on the desk, or by the waiting room where it may."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext_lazy as _

from games.group.models import BotCall, Ticket
from games.group.services.gathering import missing_bots
from games.group.services.settings import settings_of
from games.group.services.starting import locked_settings
from studies import audit
from studies.models import Study
from turingsite.errors import Invalid

MOST = 50
SOON = timedelta(seconds=60)  # by then bots have come, or they do not come at all


@transaction.atomic
def call_bots(
    *, study: Study, language: str, bots: int, user: Any = None, seed: int | None = None, now: datetime
) -> BotCall:
    """Ask for so many bots. Invalid where the study takes no test participants, and for a bad number."""
    if not study.test_participants:
        raise Invalid("no_test", _("This study takes no test participants."))
    if language not in study.languages:
        raise Invalid("unknown_language", _("Choose one of the languages on this page."))
    if not 1 <= bots <= MOST:
        message = _("From 1 to %(most)s bots can be called at once.")
        raise Invalid("bad_number", message, {"most": MOST}, fields={"bots": message % {"most": MOST}})
    call = BotCall.objects.create(
        study=study,
        user=user,
        language=language,
        bots=bots,
        seed=secrets.randbits(62) if seed is None else seed,
        created_at=now,
    )
    audit.record("group.bots_called", study=study, user=user, target=language, now=now, bots=bots)
    return call


def call_missing(now: datetime) -> int:
    """Call bots for people who have waited long enough, in every study that lets them; how many calls."""
    pools = (
        Ticket.objects.filter(
            state=Ticket.State.READY, study__group__bots_after__isnull=False, study__test_participants=True
        )
        .order_by()
        .values_list("study", "language")
        .distinct()
    )
    studies = Study.objects.in_bulk({study for study, _language in pools})
    return sum(_call(studies[study], language, now) for study, language in pools)


@transaction.atomic
def _call(study: Study, language: str, now: datetime) -> bool:
    if not missing_bots(study, language, settings_of(study), now):
        return False
    settings = locked_settings(study)  # two sweeps at once: the second finds the first one's call
    missing = missing_bots(study, language, settings, now) - _coming(study, language, now)
    if missing <= 0:
        return False
    call_bots(study=study, language=language, bots=min(missing, MOST), now=now)
    return True


def _coming(study: Study, language: str, now: datetime) -> int:
    """How many of the bots called a moment ago have not taken a ticket yet."""
    calls = BotCall.objects.filter(study=study, language=language, created_at__gt=now - SOON)
    called = calls.exclude(state=BotCall.State.FAILED).aggregate(n=Sum("bots"))["n"] or 0
    came = Ticket.objects.filter(
        study=study, language=language, participant__is_test=True, joined_at__gt=now - SOON
    )
    return max(0, called - came.count())

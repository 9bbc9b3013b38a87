"""Outcomes before their time: 403 ``blind``, unless the caller looks on purpose, which is noted with n."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request

from dialogues.targets import outcomes_open
from studies.models import AuditLine, Study
from studies.services.running import look_early
from turingsite.errors import Invalid, Refused

LOOK = "look"
EARLY = "early"
# What the lists are called where their readings are noted among those of reports.
VERDICTS, SCORES = "verdicts", "scores"
ONE_LOOK = timedelta(days=1)  # paging through a table is one look, not one a page


def access_outcomes(request: Request, study: Study, *, said: str = "", note: bool = True) -> None:
    """Let through where outcomes may be seen, or where ``?look=early`` says that the caller wants to.

    ``said``: what the body says of it, where there is one. Refused ``blind`` otherwise. A look is noted once
    a day for each person and study, unless what follows is noted itself.
    """
    asked = request.query_params.get(LOOK, "") or said
    if asked not in ("", EARLY):
        message = _("Write look=early, or leave it out.")
        raise Invalid("bad_parameter", message, fields={LOOK: message})
    if outcomes_open(study):
        return
    if not asked:
        raise Refused(
            "blind",
            _(
                "Outcomes are hidden while the study runs. With look=early you see them all the same; that "
                "is noted in the audit trail, with how many there were."
            ),
        )
    if note and not _noted(request.user, study, action="study.looked_early"):
        look_early(study=study, user=request.user)


def has_read(user: Any, study: Study, table: str) -> bool:
    """Whether ``user`` is on a walk through the table that was noted: one that began within a day."""
    return _noted(user, study, action="report.read", target=table)


def _noted(user: Any, study: Study, **what: str) -> bool:
    since = timezone.now() - ONE_LOOK
    return AuditLine.objects.filter(study=study, actor=user.pk, at__gte=since, **what).exists()

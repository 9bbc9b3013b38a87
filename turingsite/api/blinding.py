"""Outcomes before their time: 403 ``blind``, unless the caller looks on purpose, which is noted with n."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request

from dialogues.targets import analysed, outcomes_open
from studies.models import AuditLine, Study
from studies.services.running import look_early
from turingsite.errors import Invalid, Refused

LOOK = "look"
EARLY = "early"
ONE_LOOK = timedelta(days=1)  # paging through a table is one look, not one a page


def access_outcomes(request: Request, study: Study, *, note: bool = True) -> None:
    """Let through where outcomes may be seen, or where ``?look=early`` says that the caller wants to.

    Refused ``blind`` otherwise. A look is noted once a day for each person and study, unless what follows
    is noted itself.
    """
    asked = request.query_params.get(LOOK, "")
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
                "is noted in the audit trail, with the number of verdicts."
            ),
        )
    since = timezone.now() - ONE_LOOK
    if (
        note
        and not AuditLine.objects.filter(
            study=study, actor=request.user.pk, action="study.looked_early", at__gte=since
        ).exists()
    ):
        look_early(study=study, user=request.user, verdicts=analysed(study))

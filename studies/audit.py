"""The audit trail: one function writes it, inside the transaction of the change it records."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from studies.models import AuditLine, Study


def record(
    action: str,
    *,
    study: Study | None = None,
    user: Any = None,
    by: str = "system",
    target: object = "",
    now: datetime | None = None,
    **detail: Any,
) -> None:
    """Write one line. ``user`` is a staff user or None; ``by`` names the actor's kind where there is no user.

    ``detail`` takes ids, counts and codes, never names, addresses or free text.
    """
    AuditLine.objects.create(
        at=now or timezone.now(),
        study=study,
        actor=user,
        actor_kind="user" if user is not None else by,
        action=action,
        target=str(target),
        detail=detail,
    )

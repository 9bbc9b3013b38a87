"""The audit trail: one function writes it, inside the transaction of the change it records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.db.models import Model
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


def changes(row: Model, fields: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What ``fields`` change of ``row``, each as [was, is], for a line's ``values``.

    Numbers, dates, yes or no and choices alone: words that somebody wrote may name a person.
    """
    pairs = {name: [getattr(row, name), value] for name, value in fields.items()}
    return {
        name: [_plain(was), _plain(now_is)]
        for name, (was, now_is) in pairs.items()
        if was != now_is and (_is_plain(was, now_is) or row._meta.get_field(name).choices)  # type: ignore[union-attr]
    }


def _is_plain(*values: Any) -> bool:
    return all(value is None or isinstance(value, bool | int | float | Decimal | date) for value in values)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal | date) else value

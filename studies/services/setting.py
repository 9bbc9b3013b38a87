"""New values on a row that the desk or a file sets: checked by the row's own fields, stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils.translation import gettext as _

from studies import audit
from turingsite.errors import Invalid


def take(
    row: Model,
    fields: Mapping[str, Any],
    *,
    code: str = "bad_settings",
    unchecked: Collection[str] | None = None,
) -> None:
    """Set ``fields`` on ``row``, not yet saved; Invalid with ``code`` and what is wrong by field.

    ``unchecked``: columns that are not looked at; unless said otherwise all but ``fields``.
    """
    for name, value in fields.items():
        setattr(row, name, value)
    if unchecked is None:
        unchecked = {field.name for field in row._meta.fields} - set(fields)
    try:
        row.clean_fields(exclude=set(unchecked))
    except ValidationError as error:
        first = {name: messages[0] for name, messages in error.message_dict.items()}
        raise Invalid(code, _("Some of this can't be used."), fields=first) from error


def store(row: Model, fields: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Take and save ``fields``; what changed, as [was, is], for the audit line that callers write."""
    values = audit.changes(row, fields)
    take(row, fields)
    if fields:
        row.save(update_fields=list(fields))
    return values

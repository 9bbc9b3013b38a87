"""A domain error in words: its message in the language of the request, and the one shape it has as JSON."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext

from turingsite.errors import DomainError


def translated(error: DomainError) -> str:
    """The error's message in the current language, parameters filled in."""
    text = gettext(error.message) if isinstance(error.message, str) else str(error.message)
    return text % error.params if error.params else text


def error_body(error: DomainError) -> dict[str, Any]:
    """The one error shape: code, message, fields."""
    fields = {name: gettext(m) if isinstance(m, str) else str(m) for name, m in error.fields.items()}
    return {"error": {"code": error.code, "message": translated(error), "fields": fields}}

"""Errors every floor may raise: a code for machines, a message for people, parameters for both.

No Django in here. Messages are English msgids with ``%(name)s`` places; the edges (pages, API, sockets,
commands) translate and fill them in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def gettext_noop(message: str) -> str:
    """Mark ``message`` for extraction without translating it (for floors that have no Django)."""
    return message


class DomainError(Exception):
    """A rule said no. ``code`` is stable, ``message`` is a translatable msgid, ``status`` an HTTP status.

    ``fields`` names the inputs that are at fault, each with its own message. ``retryable`` tells a worker
    whether trying the same again later can help.
    """

    status = 400
    retryable = False

    def __init__(
        self,
        code: str,
        message: Any,
        params: Mapping[str, Any] | None = None,
        *,
        fields: Mapping[str, Any] | None = None,
        status: int | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.params = dict(params or {})
        self.fields = dict(fields or {})
        if status is not None:
            self.status = status
        if retryable is not None:
            self.retryable = retryable

    def __str__(self) -> str:
        text = str(self.message)
        return text % self.params if self.params else text


class Invalid(DomainError):
    """The input does not have the shape or range it must have (400)."""


class Refused(DomainError):
    """The input is well formed but the person may not do this (403)."""

    status = 403


class NotFound(DomainError):
    """There is no such thing, or it is not this person's to see (404)."""

    status = 404


class Conflict(DomainError):
    """The state has moved on, or a rule of order forbids this now (409)."""

    status = 409


class Gone(DomainError):
    """It was here and has ended: a closed study, a withdrawn person (410)."""

    status = 410


class TryLater(DomainError):
    """A passing fault; the same request may go through later (503)."""

    status = 503
    retryable = True

"""Logs without personal data: one line an event, as key=value or JSON, with ids only.

Our own loggers (``turingsite.…``) write key=value with ids, and are taken at their word. Libraries don't know
that rule: their messages may carry addresses, paths, codes or account names. Of theirs the template is kept,
not what was filled in, and of an exception its type and where it was raised, not its message.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

OURS = "turingsite"
FRAMES = 6  # of a traceback, the innermost

#: Id of the request that is being answered, "" outside of one.
request_id: ContextVar[str] = ContextVar("request_id", default="")

_PAIR = re.compile(r"(\w+)=(\"[^\"]*\"|\S*)")
_SCRUBBED = [
    (re.compile(r"'[^']*'|\"[^\"]*\""), "'…'"),
    (re.compile(r"\S+@\S+"), "…"),
    (re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b|\b[0-9a-fA-F]{0,4}(:[0-9a-fA-F]{0,4}){2,7}\b"), "…"),
    (re.compile(r"/\S+"), "/…"),
    (re.compile(r"=\S+"), "=…"),
]


class Lines(logging.Formatter):
    """A record as one line: key=value, or a JSON object with ``json=True``."""

    def __init__(self, *, json: bool = False) -> None:
        super().__init__()
        self._json = json

    def format(self, record: logging.LogRecord) -> str:
        if self._json:
            return json.dumps(fields_of(record), ensure_ascii=False, default=str)
        line = _written(_where(record))
        if is_ours(record):  # key=value already: nothing to take apart, once a request
            line += " " + " ".join(record.getMessage().split())
        else:
            line += " " + _written(_foreign(record))
        error = _exception(record)
        return f"{line} {_written(error)}" if error else line


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What a record says, without what it must not say."""
    said = _own(record.getMessage()) if is_ours(record) else _foreign(record)
    return _where(record) | said | _exception(record)


def is_ours(record: logging.LogRecord) -> bool:
    return record.name == OURS or record.name.startswith(f"{OURS}.")


def _where(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "logger": record.name,
    }
    if request_id.get():
        fields["request"] = request_id.get()
    return fields


def _own(message: str) -> dict[str, str]:
    pairs = _PAIR.findall(message)
    return {key: value.strip('"') for key, value in pairs} if pairs else {"event": message}


def _foreign(record: logging.LogRecord) -> dict[str, Any]:
    """The template of a library's message; for what Django says of a request, its route and status."""
    fields: dict[str, Any] = {}
    request = getattr(record, "request", None)
    if hasattr(record, "status_code"):
        fields["status"] = record.status_code
    if request is not None:
        fields["route"] = route_of(request)
    if isinstance(record.args, dict) and "name" in record.args and record.name.startswith("celery"):
        fields["task"] = record.args["name"]
    if record.name.startswith("django.security"):
        return {"event": "refused", **fields}
    message = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
    for pattern, place in _SCRUBBED:
        message = pattern.sub(place, message)
    return {"event": "library", "message": " ".join(message.split())[:200], **fields}


def route_of(request: Any) -> str:
    """The name of the page that was asked for, never its address."""
    match = getattr(request, "resolver_match", None)
    return (match.view_name or "unnamed") if match is not None else "none"


def _exception(record: logging.LogRecord) -> dict[str, str]:
    """Type and place of an exception and of what caused it; empty where there was none."""
    if not record.exc_info or record.exc_info[1] is None:
        return {}
    error: BaseException | None = record.exc_info[1]
    types: list[str] = []
    while error is not None and len(types) < 5:
        types.append(type(error).__name__)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    frames = traceback.extract_tb(record.exc_info[2])[-FRAMES:]
    places = [f"{'/'.join(Path(one.filename).parts[-2:])}:{one.lineno}:{one.name}" for one in frames]
    return {"exception": "<".join(types), "raised": ">".join(places)}


def _written(fields: dict[str, Any]) -> str:
    return " ".join(f"{key}={_value(value)}" for key, value in fields.items())


def _value(value: Any) -> str:
    text = str(value)
    return f'"{text}"' if " " in text else text


def configuration(*, as_json: bool) -> dict[str, Any]:
    """Django's LOGGING. Servers and Celery, which would write their own way, are brought into line."""
    server = {"handlers": ["console"], "level": "WARNING", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": "turingsite.logs.Lines", "json": as_json}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            OURS: {"level": "INFO"},
            # Each request has its own line; here only what failed is said again, with where.
            "django.request": {"level": "ERROR"},
            "axes": {"level": "ERROR"},  # it names the accounts people try
            **{name: dict(server) for name in ("uvicorn", "uvicorn.error", "gunicorn.error")},
        },
    }

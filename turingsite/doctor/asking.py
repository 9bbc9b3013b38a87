"""Requests to the site's own address and to return links: short, without following, never raising."""

from __future__ import annotations

import http.client
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 4.0  # seconds for one answer
TOGETHER = 8.0  # seconds for all that are asked at once
LONGEST = 10_000  # bytes that are read of an answer


@dataclass(frozen=True)
class Answer:
    """``status`` 0: there was none, ``trouble`` says why."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    trouble: str = ""

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers.items() if key.lower() == name.lower()), "")


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_opener = urllib.request.build_opener(_Stay)


def ask(address: str, *, method: str = "GET", headers: Mapping[str, str] | None = None) -> Answer:
    """One answer, whatever its status. Only http and https are asked."""
    if urlsplit(address).scheme not in {"http", "https"}:
        return Answer(trouble="not http")
    request = urllib.request.Request(address, method=method, headers=dict(headers or {}))  # noqa: S310
    try:
        with _opener.open(request, timeout=PATIENCE) as answer:
            return Answer(answer.status, dict(answer.headers), answer.read(LONGEST))
    except urllib.error.HTTPError as refused:
        with refused:
            return Answer(refused.code, dict(refused.headers), b"")
    except (OSError, ValueError, http.client.HTTPException) as problem:
        reason = getattr(problem, "reason", problem)
        return Answer(trouble=type(reason).__name__)


def ask_all(addresses: Iterable[str], *, method: str) -> dict[str, Answer]:
    """Answers by address, asked at once; who has none after ``TOGETHER`` seconds is told as timed out."""
    answers: dict[str, Answer] = {}

    def one(address: str) -> None:
        answers[address] = ask(address, method=method)

    asked = list(dict.fromkeys(addresses))
    # Daemons: a name server that keeps silent must not keep the command from ending.
    threads = [threading.Thread(target=one, args=(address,), daemon=True) for address in asked]
    for thread in threads:
        thread.start()
    end = time.monotonic() + TOGETHER
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return {address: answers.get(address, Answer(trouble="TimeoutError")) for address in asked}

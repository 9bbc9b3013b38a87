"""A server of the site on the test database, as a process of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from django.conf import settings

ROOT = Path(__file__).resolve().parents[2]
#: Commands, ``{port}`` still open: pages alone, and everything in one process as the embedded site has it.
PAGES = (
    *("gunicorn", "turingsite.wsgi:application", "--bind", "127.0.0.1:{port}"),
    *("--worker-class", "gthread", "--threads", "8", "--keep-alive", "30"),
)
ALL = ("uvicorn", "turingsite.asgi:application", "--host", "127.0.0.1", "--port", "{port}")


@contextlib.contextmanager
def serving(command: Sequence[str], database: Mapping[str, Any], log: Path) -> Iterator[str]:
    """The address of ``python -m command``, for as long as the context lasts; PostgreSQL only."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    user = quote(database["USER"]) + (f":{quote(database['PASSWORD'])}" if database["PASSWORD"] else "")
    place = f"{database['HOST'] or '127.0.0.1'}:{database['PORT'] or 5432}"
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE,
        "DATABASE_URL": f"postgres://{user}@{place}/{database['NAME']}",
        "TEST_VAR_DIR": str(settings.VAR_DIR),
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *(part.format(port=port) for part in command)],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=output,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(process, f"{address}/health/live", log)
        yield address
    finally:
        process.terminate()
        process.wait(20)


def _wait(process: subprocess.Popen[bytes], address: str, log: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), urlopen(address, timeout=5) as answer:  # noqa: S310
            if answer.status == 200:
                return
        time.sleep(0.2)
    pytest.fail(f"the server does not answer:\n{log.read_text()[-3000:]}")

"""Gunicorn for pages and API: threads, because a request mostly waits for the database."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

bind = os.environ.get("BIND", "0.0.0.0:8000")
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS", "2"))
threads = int(os.environ.get("WEB_THREADS", "8"))
# Longer than the proxy keeps an idle connection, so that the proxy closes first.
keepalive = 75
timeout = 60
graceful_timeout = 30
# The application writes a line for every request, without addresses.
accesslog = None
# Nothing here is managed while it runs, and the user of the image has no home to keep a socket in.
control_socket_disable = True
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108

# Where the processes leave their figures for each other; whichever is scraped tells of all (/metrics).
_own_directory = "PROMETHEUS_MULTIPROC_DIR" not in os.environ
if _own_directory:
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="turingsite-metrics-")


def child_exit(server: Any, worker: Any) -> None:
    """What a process counted stays; what it held at the moment goes with it."""
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    if _own_directory:
        shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)

"""Gunicorn for pages and API: threads, because a request mostly waits for the database."""

from __future__ import annotations

import os

bind = os.environ.get("BIND", "0.0.0.0:8000")
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS", "2"))
threads = int(os.environ.get("WEB_THREADS", "8"))
# Longer than the proxy keeps an idle connection, so that the proxy closes first.
keepalive = 75
timeout = 60
# Logs carry ids, not addresses, so there is no access log.
accesslog = None
# Nothing here is managed while it runs, and the user of the image has no home to keep a socket in.
control_socket_disable = True
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108

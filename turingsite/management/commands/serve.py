"""Serve everything from one process: pages, media, live sockets and the embedded worker."""

from __future__ import annotations

import os
from typing import Any

import uvicorn
from django.core.management.base import BaseCommand, CommandParser
from django.db import connections


class Command(BaseCommand):
    help = "Serve the site from one process (the embedded default: a demo, a pilot, a laptop)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for all")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")))

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        shown = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104
        self.stdout.write(f"Serving on http://{shown}:{port}/ (stop with Ctrl-C)")
        self.stdout.flush()
        os.environ["PORT"] = str(port)  # where bots of this site come in
        connections.close_all()
        uvicorn.run(
            "turingsite.asgi:application",
            host=host,
            port=port,
            lifespan="on",
            # Longer than a browser or proxy keeps an idle connection, so that the client closes first.
            timeout_keep_alive=75,
            timeout_graceful_shutdown=10,
            # Longer frames than this cut the socket; from 16 kB on they are refused in words. A dead line is
            # found in 20 s. Frames are short: compressing them costs more than it saves.
            ws_max_size=131_072,
            ws_ping_interval=10,
            ws_ping_timeout=10,
            ws_per_message_deflate=False,
            log_level="warning",
            access_log=False,
            server_header=False,
        )

"""ASGI entry: everything in one process where embedded, only live sockets in production."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "turingsite.settings.embedded")

from django.core.asgi import get_asgi_application  # noqa: E402

django_application = get_asgi_application()

from turingsite.worker import with_worker  # noqa: E402

application = with_worker(django_application)

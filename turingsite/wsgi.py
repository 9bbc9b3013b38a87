"""WSGI entry: pages and API in production."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "turingsite.settings.production")

from django.core.wsgi import get_wsgi_application  # noqa: E402

import turingsite.celery  # noqa: E402, F401

application = get_wsgi_application()

"""WSGI entry: pages and API in production."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "turingsite.settings.production")

from django.core.wsgi import get_wsgi_application

import turingsite.celery  # noqa: F401

application = get_wsgi_application()

"""The Celery application. A job is a row first; the queue only wakes a worker."""

from __future__ import annotations

import logging.config
import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "turingsite.settings.embedded")

app = Celery("turingsite")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()
app.autodiscover_tasks()


@setup_logging.connect
def keep_our_logs(loglevel: int | str = "WARNING", **kwargs: Any) -> None:
    """Write as everywhere else: Celery's own format would print what tasks and exceptions were given."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)
    logging.getLogger("celery").setLevel(loglevel)

"""The Celery application. A job is a row first; the queue only wakes a worker."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "turingsite.settings.embedded")

app = Celery("turingsite")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()
app.autodiscover_tasks()

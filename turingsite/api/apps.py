"""App configuration of the interface: its tokens have a table, and the schema learns how they are sent."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ApiConfig(AppConfig):
    name = "turingsite.api"
    label = "api"
    verbose_name = _("API")

    def ready(self) -> None:
        from turingsite.api import schema  # noqa: F401  (registers how requests say who sends them)

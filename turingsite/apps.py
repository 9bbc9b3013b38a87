"""App configurations of the wiring floor: the site itself, and the desk (the admin with our site class)."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class TuringsiteConfig(AppConfig):
    name = "turingsite"
    verbose_name = "Turingsite"

    def ready(self) -> None:
        from turingsite import checks  # noqa: F401  (registers the system checks)


class DeskConfig(AdminConfig):
    default_site = "turingsite.desk.DeskSite"

    def ready(self) -> None:
        super().ready()
        from turingsite.desk import accounts  # noqa: F401  (takes the place of Django's own accounts)

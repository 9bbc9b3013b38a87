"""App configuration; registrations of this floor happen in ready()."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StudiesConfig(AppConfig):
    name = "studies"
    verbose_name = _("Studies")

    def ready(self) -> None:
        from studies import datasets, plan_file  # models are loaded only now
        from studies.services import erasing

        erasing.register()
        datasets.register()
        plan_file.register()

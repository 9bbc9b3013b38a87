"""App configuration; registrations of this floor happen in ready()."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class DialoguesConfig(AppConfig):
    name = "dialogues"
    verbose_name = _("Dialogues")

    def ready(self) -> None:
        from dialogues import (  # models are loaded only now
            audit_dataset,
            datasets,
            erasing,
            nuisance_report,
            recordings_report,
            targets,
        )

        datasets.register()
        audit_dataset.register()
        erasing.register()
        recordings_report.register()
        nuisance_report.register()
        targets.register()

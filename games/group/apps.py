"""App configuration; registrations of this activity happen in ready()."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class GroupConfig(AppConfig):
    name = "games.group"
    label = "group"
    verbose_name = _("Group game")

    def ready(self) -> None:
        from games.group import activity, datasets, rules, study_file  # loads models

        activity.register()
        rules.register()
        datasets.register()
        study_file.register()

"""App configuration; registrations of this activity happen in ready()."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class GroupConfig(AppConfig):
    name = "games.group"
    label = "group"
    verbose_name = _("Group game")

    def ready(self) -> None:
        from games.group import (  # loads models
            activity,
            datasets,
            headlines,
            outcomes,
            reports,
            rules,
            study_file,
        )
        from games.group.agent.offline import OFFLINE
        from games.group.agent.thinking import kinds
        from games.group.interchange import writing

        activity.register()
        rules.register()
        datasets.register()
        outcomes.register()
        reports.register()
        headlines.register()
        writing.register()
        study_file.register()
        kinds.add(OFFLINE)

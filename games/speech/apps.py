"""App configuration; registrations of this activity happen in ready()."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SpeechConfig(AppConfig):
    name = "games.speech"
    label = "speech"
    verbose_name = _("Speech game")

    def ready(self) -> None:
        from games.speech import activity, datasets, headlines, reports, study_file  # loads models

        activity.register()
        datasets.register()
        reports.register()
        headlines.register()
        study_file.register()

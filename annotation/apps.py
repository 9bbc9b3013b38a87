"""App configuration; registrations of this activity happen in ready()."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = _("Annotation")

    def ready(self) -> None:
        from annotation import (  # loads models
            activity,
            datasets,
            erasing,
            headlines,
            outcomes,
            reports,
            study_file,
        )
        from annotation.services import joining

        activity.register()
        datasets.register()
        outcomes.register()
        erasing.register()
        headlines.register()
        reports.register()
        study_file.register()
        joining.register()

"""Reports of the speech game: pure functions over tidy rows. They know columns, not models."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from games.speech.reports import accuracy, success
from studies.registry import Report, reports

#: Tables that every report of the game is given.
DATASETS = ("verdicts", "dialogues", "systems", "items", "participants", "speech_settings")


def register() -> None:
    reports.add(Report("success-rate", _("Success rate"), DATASETS, success.build))
    reports.add(Report("accuracy", _("Accuracy"), DATASETS, accuracy.build))

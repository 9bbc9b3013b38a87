"""Reports of the speech game: pure functions over tidy rows. They know columns, not models."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from games.speech.reports import accuracy, discrimination, leaks, lengths, progress, rounds, success
from studies.registry import Report, reports

#: Tables that every report on verdicts of the game is given.
DATASETS = ("verdicts", "dialogues", "systems", "items", "participants", "speech_settings")


def register() -> None:
    reports.add(Report("success-rate", _("Success rate"), DATASETS, success.build))
    reports.add(Report("accuracy", _("Accuracy"), DATASETS, accuracy.build))
    reports.add(Report("discrimination", _("Discrimination"), DATASETS, discrimination.build))
    reports.add(Report("duration-trend", _("Trend over length"), DATASETS, lengths.build))
    reports.add(Report("by-round", _("By round"), DATASETS, rounds.build))
    reports.add(Report("leaks", _("Leaks"), (*DATASETS, "flags"), leaks.build))
    reports.add(Report("funnel", _("Funnel"), progress.DATASETS, progress.build))

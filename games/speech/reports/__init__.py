"""Reports of the speech game: pure functions over tidy rows. They know columns, not models."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from dialogues.targets import is_judged
from games.speech.reports import (
    accuracy,
    discrimination,
    groups,
    judged,
    leaks,
    lengths,
    pictures,
    progress,
    rounds,
    success,
)
from games.speech.reports.families import FAMILIES
from studies.registry import Report, reports

#: Tables that every report on verdicts of the game is given.
DATASETS = ("verdicts", "dialogues", "systems", "items", "participants", "speech_settings")


#: Figures that a plan may name as the primary outcome, by report.
OUTCOMES = {
    "success-rate": {
        "success": _("Success rate of each system against .5"),
        "difference": _("Success rate of each system against human speakers"),
        "equivalence": _("Equivalence of each system to human speakers"),
    },
    "accuracy": {
        "accuracy": _("Share of right verdicts, by kind"),
        "balanced": _("Balanced accuracy"),
    },
    "discrimination": {"dprime": _("d′ of each system"), "between": _("Difference in d′ between systems")},
    "duration-trend": {"slope": _("Slope of right verdicts over length")},
    "by-round": {"accuracy": _("Share of right verdicts, by round")},
    "leaks": {"rate": _("Share of dialogues in which a system gives itself away")},
}
OWN_COLUMNS = {"leaks": leaks.COLUMNS, "accuracy": {**judged.COLUMNS, **groups.COLUMNS}}


def register() -> None:
    for key, title, tables, build, figures in (
        ("success-rate", _("Success rate"), DATASETS, success.build, pictures.success_rate),
        ("accuracy", _("Accuracy"), (*DATASETS, "answers"), accuracy.build, pictures.accuracy),
        ("discrimination", _("Discrimination"), DATASETS, discrimination.build, pictures.discrimination),
        ("duration-trend", _("Trend over length"), DATASETS, lengths.build, pictures.duration_trend),
        ("by-round", _("By round"), DATASETS, rounds.build, pictures.by_round),
        ("leaks", _("Leaks"), (*DATASETS, "flags"), leaks.build, pictures.leaks),
    ):
        named = OUTCOMES.get(key, {}), FAMILIES.get(key, {})
        columns = OWN_COLUMNS.get(key, judged.COLUMNS)
        reports.add(
            Report(key, title, tables, build, *named, figures=figures, columns=columns, has=is_judged)
        )
    reports.add(
        Report(
            "funnel",
            _("Funnel"),
            progress.DATASETS,
            progress.build,
            figures=pictures.funnel,
            columns=progress.COLUMNS,
            has=is_judged,
        )
    )

"""Reports on the group game: pure functions over tidy rows. They know columns, not rows of the database.

``given``: the games that count and their chance levels. ``survival``, ``votes``, ``participation`` (with
``talking``), ``survey``: the four reports.
"""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from games.group.outcomes import has_games
from games.group.reports import given, participation, pictures, survey, survival, talking, votes
from studies.registry import Report, reports

#: Figures that a plan may name as the primary outcome, by report.
OUTCOMES = {
    survival.KEY: {"difference": _("Survival of the agent minus chance")},
    votes.KEY: {"share": _("Share of first votes on the agent against chance")},
    participation.KEY: {"difference": _("Participation of the agent minus people")},
    survey.KEY: {"mean": _("Human-likeness of the agent")},
}


def register() -> None:
    """Called once when the app starts."""
    for key, title, tables, build, figures, columns in (
        (
            survival.KEY, _("Survival of the agent"), given.DATASETS, survival.build, pictures.survival, {},
        ),
        (votes.KEY, _("Votes on the agent"), votes.TABLES, votes.build, pictures.votes, votes.COLUMNS),
        (
            participation.KEY, _("Participation of agent and people"), talking.TABLES, participation.build,
            pictures.participation, talking.COLUMNS,
        ),
        (
            survey.KEY, _("Survey after the game"), survey.TABLES, survey.build, pictures.survey,
            survey.COLUMNS,
        ),
    ):  # fmt: skip
        reports.add(
            Report(
                key,
                title,
                tables,
                build,
                OUTCOMES[key],
                figures=figures,
                columns={**given.COLUMNS, **columns},
                sets=False,
                of="games",
                has=has_games,
            )
        )

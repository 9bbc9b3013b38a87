"""Games as outcomes: how many a study has that count, told where outcomes are seen or a plan is frozen."""

from __future__ import annotations

from django.utils.translation import ngettext

from games.group.datasets.games import games_that_count
from games.group.models import Game, GroupSettings
from studies.models import Study
from studies.registry import Outcomes, outcomes

KEY = "games"


def has_games(study: Study) -> bool:
    return GroupSettings.objects.filter(study=study).exists() or Game.objects.filter(study=study).exists()


def count(study: Study) -> int:
    """Games played to their end that are in the figures: no tests, no pilots."""
    return games_that_count(study).count()


def words(n: int) -> str:
    return ngettext("%(n)s game", "%(n)s games", n) % {"n": n}


def register() -> None:
    outcomes.add(Outcomes(KEY, "group_games", count, words, has_games))

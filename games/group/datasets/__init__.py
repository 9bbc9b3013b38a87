"""Tidy tables of the group game. What was said, and by whom or what, is hidden while a study runs.

``parts``: columns that several have. ``games``: settings, agents, games, seats, votes. ``talk``: messages and
what was done about them. ``waiting``: the waiting room. ``trace``: what the agent did and why. Previews, in
which one researcher sits on all seats, are in none.
"""

from __future__ import annotations

from games.group.datasets import games, talk, trace, waiting
from studies.registry import datasets

__all__ = ["register"]


def register() -> None:
    """Called once when the app starts."""
    for part in (games, talk, waiting, trace):
        for one in part.TABLES:
            datasets.add(one)

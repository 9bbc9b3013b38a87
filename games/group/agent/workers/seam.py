"""What a worker is, and which of them an agent has by its data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from games.group.agent.thinking import Report
from games.group.agent.view import View
from games.group.models import Agent
from studies.registry import Registry
from turingsite.errors import Invalid


class Worker(ABC):
    """Works for one agent in one game, beside its talk: one thread at a time, no database connection.

    ``goal``: what it is for, in words. ``every``: seconds between two runs, unless the agent's data say
    otherwise; it runs only where there is something new to read. What it raises is kept as its failure.
    """

    key: ClassVar[str]
    goal: ClassVar[str]
    every: ClassVar[float]

    def __init__(self, agent: Agent, settings: Mapping[str, Any], report: Report) -> None:
        self.agent, self.settings, self.report = agent, settings, report

    @abstractmethod
    def work(self, view: View) -> Mapping[str, Any]:
        """The result as JSON; it replaces the one before."""


workers: Registry[type[Worker]] = Registry("worker")


def checked(data: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """``data`` where each names a known worker once and a frequency of at least a second; else Invalid."""
    keys = [one.get("worker") for one in data if isinstance(one, Mapping)]
    if len(keys) != len(data) or len(set(keys)) != len(keys) or not all(key in workers for key in keys):
        raise Invalid("bad_workers", _("The workers of this agent cannot be read."))
    for one in data:
        every = one.get("every", 1)
        if not isinstance(every, int | float) or not 1 <= every <= 3600:
            raise Invalid("bad_workers", _("The workers of this agent cannot be read."))
    return data

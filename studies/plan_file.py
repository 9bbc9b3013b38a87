"""The frozen plan as a file of every export: ``plan.md``, whose SHA-256 the manifest names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.models import Study
from studies.plans import NO_PLAN, frozen_plan
from studies.registry import Companion, companions


class PlanFile:
    """Gathers nothing from the tables: the file is there since the plan was frozen."""

    def __init__(self, study: Study) -> None:
        self._study = study

    def take(self, table: str, row: Mapping[str, Any]) -> None:
        pass

    def text(self) -> str:
        plan = frozen_plan(self._study)
        return plan.markdown if plan is not None else NO_PLAN


def register() -> None:
    companions.add(Companion("plan.md", PlanFile))

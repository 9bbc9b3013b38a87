"""The frozen plan as a file of every export: ``plan.md``, whose SHA-256 the manifest names."""

from __future__ import annotations

from studies.models import Study
from studies.plans import NO_PLAN, frozen_plan
from studies.registry import Companion, companions


def plan_file(study: Study, language: str = "") -> str:
    """The file as it was frozen, whatever the export is limited to."""
    plan = frozen_plan(study)
    return plan.markdown if plan is not None else NO_PLAN


def register() -> None:
    companions.add(Companion("plan.md", plan_file))

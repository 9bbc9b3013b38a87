"""Tidy tables of the annotation. Outcomes, which the desk hides while a study runs: items, scores, reviews.

``wording``: what is scored, by which rules. ``people``: annotators. ``work``: batches, items, scores.
``review``: expert review and references.
"""

from __future__ import annotations

from annotation.datasets import people, review, wording, work
from studies.registry import datasets

__all__ = ["register"]


def register() -> None:
    """Called once when the app starts."""
    for part in (wording, people, work, review):
        for one in part.TABLES:
            datasets.add(one)

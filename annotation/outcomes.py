"""Scores as outcomes: how many a study has that count, told where outcomes are seen or a plan is frozen."""

from __future__ import annotations

from django.utils.translation import ngettext

from annotation.layers import scores_in_layer
from annotation.models import AnnotationSettings, Layer
from studies.models import Study
from studies.registry import Outcomes, outcomes

KEY = "scores"


def annotates(study: Study) -> bool:
    return AnnotationSettings.objects.filter(study=study).exists()


def count(study: Study) -> int:
    """Scores that count, of every layer."""
    return sum(scores_in_layer(study, layer).count() for layer in Layer.values)


def words(n: int) -> str:
    return ngettext("%(n)s score", "%(n)s scores", n) % {"n": n}


def register() -> None:
    outcomes.add(Outcomes(KEY, "scores", count, words, annotates))

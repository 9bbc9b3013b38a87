"""What a pilot tells the planner: how alike verdicts of one person are, and verdicts on one dialogue."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogues.models import Choice, Kind, Verdict
from studies.models import Study
from turingsite.stats import icc_by_pairs

#: What a pilot's correlation has to rest on before the planner begins with it. Where verdicts are independent
#: the estimate by pairs has a standard error of about 1/√pairs: .07 with 200, no more than what it estimates.
ENOUGH_PAIRS = 200
ENOUGH_PERSONS = 20
ENOUGH_DIALOGUES = 10


class Correlations(NamedTuple):
    """Observed-scale intraclass correlations, ``None`` where the pilot has no pair; what they rest on.

    Pairs: of two verdicts of a person, or on a dialogue, on the same system in the same language.
    """

    person: float | None
    dialogue: float | None
    verdicts: int
    persons: int
    dialogues: int
    person_pairs: int
    dialogue_pairs: int

    @property
    def person_usable(self) -> bool:
        """Whether the person's correlation rests on enough, and is not below 0 by chance."""
        return self._usable(self.person, self.person_pairs)

    @property
    def dialogue_usable(self) -> bool:
        return self._usable(self.dialogue, self.dialogue_pairs)

    def _usable(self, found: float | None, pairs: int) -> bool:
        enough = self.persons >= ENOUGH_PERSONS and self.dialogues >= ENOUGH_DIALOGUES
        return found is not None and found >= 0 and pairs >= ENOUGH_PAIRS and enough


def correlations_of(study: Study) -> Correlations:
    """From the pilot's verdicts on machines, by pairs within each system and language.

    Pooled over systems by the weight each has in the formula, pairs · p(1−p); a system that everybody judged
    alike says nothing.
    """
    rows = (
        Verdict.objects.of_game()
        .filter(study=study, exclusion=Verdict.Exclusion.PILOT, choice__in=(Choice.HUMAN, Choice.MACHINE))
        .exclude(dialogue__kind=Kind.HUMAN_HUMAN)
        .filter(dialogue__parties__label="B")
        .values_list(
            "choice", "rater_id", "dialogue_id", "dialogue__parties__system_id", "dialogue__language"
        )
    )
    found = list(rows)
    human = np.array([choice == Choice.HUMAN for choice, *_rest in found], dtype=np.float64)
    person = np.array([row[1] for row in found], dtype=np.int64)
    dialogue = np.array([row[2] for row in found], dtype=np.int64)
    group = np.array([f"{system} {language}" for *_rest, system, language in found], dtype=np.str_)
    return Correlations(
        person=_pooled(human, person, group),
        dialogue=_pooled(human, dialogue, group),
        verdicts=human.size,
        persons=np.unique(person).size,
        dialogues=np.unique(dialogue).size,
        person_pairs=_pairs(person, group),
        dialogue_pairs=_pairs(dialogue, group),
    )


def _pairs(cluster: NDArray[np.int64], group: NDArray[Any]) -> int:
    sizes = [np.unique(cluster[group == one], return_counts=True)[1] for one in np.unique(group)]
    return int(sum((n * (n - 1) // 2).sum() for n in sizes))


def _pooled(y: NDArray[np.float64], cluster: NDArray[np.int64], group: NDArray[Any]) -> float | None:
    total = weight = 0.0
    for one in np.unique(group):
        inside = group == one
        icc = icc_by_pairs(y[inside], cluster[inside])
        if icc is None:
            continue
        sizes = np.unique(cluster[inside], return_counts=True)[1].astype(np.float64)
        p = float(y[inside].mean())
        here = float((sizes * (sizes - 1)).sum()) * p * (1 - p)
        total, weight = total + icc * here, weight + here
    return total / weight if weight else None

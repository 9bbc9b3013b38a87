"""What the rows of a file are checked against: the study as it is, and what whoever imports has said."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from annotation.importing.scales import Scale
from annotation.importing.taxonomies import Taxonomies
from annotation.models import Layer, Score
from annotation.scored import Scored
from dialogues.importing.opinions import PREFIX
from dialogues.models import StudyItem, Verdict
from studies.models import Rater, Study

#: Rater, dialogue, dimension, layer, repeat; the rater by key, or by the file's code where they are new.
ScoreKey = tuple[int | str, int, int, str, int]


class Known(NamedTuple):
    """A rater whom the study has. ``reason``: why what they say is not analysed."""

    pk: int
    gone: bool
    reason: str = ""


class Kept(NamedTuple):
    """A score that the study holds."""

    pk: int
    given: Scored


@dataclass(frozen=True)
class How:
    """What whoever imports says of a file. ``layer``: of rows that name none, "" where all have to.

    ``taxonomy``: of rows that name none, "" for the study's. ``create``: make what is missing (the study, its
    annotation, its items).
    """

    layer: str = ""
    taxonomy: str = ""
    create: bool = False
    scale: Scale = Scale.UNSAID


@dataclass
class Setting:
    """``items``: role by dialogue. ``people``: by the id they have in files, or their code in the study."""

    how: How
    taxonomies: Taxonomies
    zone: ZoneInfo
    now: datetime
    items: dict[int, str] = field(default_factory=dict)
    people: dict[str, Known] = field(default_factory=dict)
    machines: dict[str, Known] = field(default_factory=dict)
    scores: dict[ScoreKey, Kept] = field(default_factory=dict)
    untied: dict[ScoreKey, int] = field(default_factory=dict)  # truth-shown ones that revise nothing yet
    choices: dict[tuple[int, int], str] = field(default_factory=dict)

    def read_study(self, study: Study) -> None:
        """Fill in what the study holds already."""
        self.items = dict(StudyItem.objects.filter(study=study).values_list("dialogue", "role"))
        self._read_people(study)
        machines = Rater.objects.filter(machine__isnull=False).values_list("machine__sha256", "pk")
        self.machines = {sha256[:16]: Known(pk, False) for sha256, pk in machines}
        stored = Score.objects.filter(study=study).values_list(
            "rater", "dialogue", "dimension", "layer", "repeat", "pk", "value", "evidence", "revises"
        )
        for row in stored.iterator(chunk_size=10_000):
            at, revises = (row[0], row[1], row[2], row[3], row[4]), row[8]
            self.scores[at] = Kept(row[5], Scored(row[6], row[7]))
            if row[3] == Layer.TRUTH_SHOWN and revises is None:
                self.untied[at] = row[5]
        said = Verdict.objects.filter(study=study, repeat=0).values_list("rater", "dialogue", "choice")
        self.choices = {(rater, dialogue): choice for rater, dialogue, choice in said}

    def _read_people(self, study: Study) -> None:
        rows = Rater.objects.filter(participant__study=study).values_list(
            "pk",
            "participant__code",
            "participant__recruiter_key",
            "participant__withdrawn_at",
            "participant__erased_at",
            "participant__is_test",
            "participant__is_pilot",
        )
        by_code, by_id = {}, {}
        for pk, code, recruited, withdrawn, erased, is_test, is_pilot in rows:
            reason = Score.Exclusion.TEST if is_test else Score.Exclusion.PILOT if is_pilot else ""
            known = Known(pk, withdrawn is not None or erased is not None, str(reason))
            by_code[code] = known
            if recruited.startswith(PREFIX):
                by_id[recruited.removeprefix(PREFIX)] = known
        self.people = by_code | by_id

    def rater(self, code: str, kind: str) -> Known | None:
        return self.machines.get(code) if kind == "machine" else self.people.get(code)

"""How far a study is from the target of its plan: analysed verdicts in every cell. Counts, never outcomes."""

from __future__ import annotations

from typing import NamedTuple

from django.core.cache import cache
from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dialogues.models import Choice, Kind, StudyItem, Verdict
from dialogues.models.opinions import GAME
from studies import plans
from studies.models import Language, Study
from studies.outcomes import VERDICTS
from studies.registry import Outcomes, Target, outcomes, targets

HUMANS = "human"
#: Seconds for which the answer is kept: counting joins every verdict of the study.
KEPT = 60
_SETS = {
    "all": Q(),
    "published": Q(round_finished=True),
    "first_round": Q(round_number=1),
    "per_protocol": Q(protocol_breaks=[]),
}


class Cell(NamedTuple):
    """A system (or human speakers) or a kind in one language, and its verdicts in the analysis set."""

    language: str
    key: str
    label: str
    n: int

    @property
    def language_label(self) -> str:
        return str(dict(Language.choices)[self.language])


def cells_of(study: Study, by: str, analysis_set: str) -> list[Cell]:
    """Cells of the study's active dialogues in its languages, by language. ``by``: "system" or "kind"."""
    items = StudyItem.objects.filter(
        study=study,
        is_active=True,
        role=StudyItem.Role.MAIN,
        dialogue__language__in=study.languages,
        dialogue__parties__label="B",
    )
    verdicts = Verdict.objects.of_game().filter(
        _SETS[analysis_set],
        study=study,
        exclusion="",
        rater__participant__isnull=False,
        choice__in=(Choice.HUMAN, Choice.MACHINE),
        dialogue__parties__label="B",
    )
    columns = [
        "dialogue__language",
        "dialogue__kind",
        "dialogue__parties__system__code",
        "dialogue__parties__system__name",
    ]
    given: dict[tuple[str, str], int] = {}
    for language, kind, code, _name, n in verdicts.values_list(*columns).annotate(n=Count("pk")).order_by():
        key = _key(by, kind, code)
        given[language, key] = given.get((language, key), 0) + n
    cells = {}
    for language, kind, code, name in items.values_list(*columns).order_by(*columns).distinct():
        key = _key(by, kind, code)
        label = Kind(kind).label if by == "kind" else _("human speakers") if key == HUMANS else name or code
        cells[language, key] = Cell(language, key, str(label), given.get((language, key), 0))
    return sorted(cells.values())


def fewest_dialogues(study: Study) -> int | None:
    """Active dialogues of the system and language that has the fewest; ``None`` where there are none."""
    items = StudyItem.objects.filter(
        study=study,
        is_active=True,
        role=StudyItem.Role.MAIN,
        dialogue__language__in=study.languages,
        dialogue__parties__label="B",
    ).exclude(dialogue__kind=Kind.HUMAN_HUMAN)
    counts = items.values_list("dialogue__language", "dialogue__parties__system").annotate(n=Count("pk"))
    return min((n for *_cell, n in counts.order_by()), default=None)


def target_reached(study: Study) -> bool:
    """Whether every cell has the target of the frozen plan; False without a plan, a target, or a cell."""
    plan = plans.frozen_plan(study)
    content = plans.content_of(plan)
    if plan is None or not content["target_n"]:
        return False
    key = f"target:{study.pk}:{plan.pk}"
    reached: bool | None = cache.get(key)
    if reached is None:
        cells = cells_of(study, content["target_by"], content["analysis_set"])
        reached = bool(cells) and min(cell.n for cell in cells) >= content["target_n"]
        cache.set(key, reached, KEPT)
    return reached


def outcomes_open(study: Study) -> bool:
    """Whether outcomes may be shown to whoever may open the desk: closed, or the target is reached."""
    return study.status == Study.Status.CLOSED or target_reached(study)


def analysed(study: Study) -> int:
    """Verdicts in the set *all*: the n that is noted where verdicts are seen or a plan is frozen."""
    return Verdict.objects.of_game().filter(study=study, exclusion="").count()


def _key(by: str, kind: str, code: str | None) -> str:
    if by == "kind":
        return kind
    return HUMANS if kind == Kind.HUMAN_HUMAN else code or "?"


def is_judged(study: Study) -> bool:
    """Whether people listen and judge in ``study``, or verdicts were brought from elsewhere."""
    return GAME in study.activities or Verdict.objects.of_game().filter(study=study).exists()


def _verdicts(n: int) -> str:
    return ngettext("%(n)s verdict", "%(n)s verdicts", n) % {"n": n}


def register() -> None:
    targets.add(Target("plan", target_reached))
    outcomes.add(Outcomes(VERDICTS, "verdicts", analysed, _verdicts, is_judged))

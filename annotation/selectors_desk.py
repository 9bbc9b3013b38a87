"""What the desk shows of a study's annotation: how far it is, what stands against it, who has an invitation.

Counts and times only: no score, no choice, nothing by what a dialogue is.
"""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.models import (
    AnnotationSettings,
    Annotator,
    Batch,
    BatchItem,
    Invitation,
    Layer,
    ReferenceDialogue,
    Taxonomy,
)
from annotation.services.annotators import ACTIVITY
from annotation.services.material import playable_references, tries_by_language
from annotation.services.queue import finished_work
from annotation.services.rater_places import held_places
from annotation.services.readiness import ready
from annotation.services.settings import by_invitation, lacks_text
from dialogues.models import Dialogue, StudyItem
from studies.models import Language, Study
from studies.money import money
from studies.selectors import source_of
from turingsite.errors import NotFound

RECENT = 500  # dialogues over which the pace is taken
FEWEST = 5  # dialogues without which there is no pace


class LayerProgress(NamedTuple):
    """``counts[i]``: dialogues with i finished raters, up to ``raters``. ``left``: places still empty."""

    layer: str
    label: str
    raters: int
    counts: tuple[int, ...]
    left: int


class Progress(NamedTuple):
    """``minutes``: active ones a dialogue (median), None below ``FEWEST``; ``hours``: left at that pace."""

    layers: list[LayerProgress]
    dialogues: int
    places_left: int
    batches: int
    leases: int
    returned: int
    minutes: float | None
    timed: int
    hours: float | None


def pool_of(study: Study) -> QuerySet[Dialogue]:
    """Dialogues that are ordinary work: in play, playable, not known by reference."""
    item = StudyItem.objects.filter(
        study=study, dialogue=OuterRef("pk"), role=StudyItem.Role.MAIN, is_active=True
    )
    reference = ReferenceDialogue.objects.filter(study=study, dialogue=OuterRef("pk"), is_active=True)
    return Dialogue.objects.playable().filter(Exists(item), ~Exists(reference))


def progress_of(settings: AnnotationSettings) -> Progress:
    """How far the raters are. Dialogues that left the pool are in no number."""
    study = settings.study
    pool = set(pool_of(study).values_list("pk", flat=True))
    layers = [_layer(study, Layer.RAW, settings.raters, pool)]
    if _has_experts(study):
        layers.append(_layer(study, Layer.BLIND_EXPERT, settings.expert_raters, pool))
    left = sum(one.left for one in layers)
    batches = Batch.objects.filter(annotator__participant__study=study, kind=Batch.Kind.WORK)
    states = Counter(batches.values_list("state", flat=True))
    times = _recent_seconds(study)
    minutes = median(times) / 60 if len(times) >= FEWEST else None
    return Progress(
        layers=layers,
        dialogues=len(pool),
        places_left=left,
        batches=finished_work(batches).count(),
        leases=states[Batch.State.OPEN],
        returned=states[Batch.State.RETURNED],
        minutes=minutes,
        timed=len(times),
        hours=left * minutes / 60 if minutes is not None else None,
    )


def _has_experts(study: Study) -> bool:
    experts = {"layer": Layer.BLIND_EXPERT}
    return (
        Invitation.objects.filter(study=study, **experts).exists()
        or Annotator.objects.filter(participant__study=study, **experts).exists()
    )


def _layer(study: Study, layer: Layer, raters: int, pool: set[int]) -> LayerProgress:
    found = (
        held_places(study, layer)
        .filter(state=BatchItem.State.FINISHED)
        .values_list("dialogue")
        .annotate(n=Count("pk"))
        .order_by()
    )
    given = {dialogue: n for dialogue, n in found if dialogue in pool}
    counts = Counter(min(n, raters) for n in given.values())
    counts[0] += len(pool) - len(given)
    by_raters = tuple(counts[n] for n in range(raters + 1))
    left = sum((raters - n) * dialogues for n, dialogues in enumerate(by_raters))
    label = _("Blind experts") if layer == Layer.BLIND_EXPERT else _("Raters")
    return LayerProgress(layer, label, raters, by_raters, left)


def _recent_seconds(study: Study) -> list[float]:
    """Active seconds of the dialogues finished last, by people who count."""
    rows = BatchItem.objects.filter(
        study=study, state=BatchItem.State.FINISHED, purpose=BatchItem.Purpose.WORK, active_seconds__gt=0,
        exclusion="",
    )  # fmt: skip
    return list(rows.order_by("-finished_at").values_list("active_seconds", flat=True)[:RECENT])


def problems_of(settings: AnnotationSettings) -> list[str]:
    """What keeps people from annotating well, in words; empty where nothing does."""
    study = settings.study
    found = [words for words in (_closed(study), *map(str, ready(study))) if words]
    if settings.calibration:
        found += _few_tries(settings)
    if settings.gold_share and not playable_references(study, ReferenceDialogue.Role.GOLD).exists():
        found.append(
            _("No gold dialogues are there to mix in: make a reference set, or set their share to 0.")
        )
    if "annotation" not in study.activities and not _open_invitations(study):
        found.append(_("Nobody can join: make an invitation."))
    if "zh" in study.languages and (missing := without_chinese(settings.taxonomy)):
        words = _("Chinese words are missing in the taxonomy: %(keys)s.")
        found.append(words % {"keys": ", ".join(missing[:5])})
    if lacks_text(study):
        found.append(
            _("Invited people would agree to texts that are not about annotating. Store its own under Texts.")
        )
    floor, rate = study.pay_floor, settings.rate_per_hour
    if rate is not None:
        found += _pay_words(study)
    if floor is not None and (rate is None or rate < floor):
        words = _("The pay per hour is below the least pay of this study (%(floor)s).")
        found.append(words % {"floor": money(floor, study.currency)})
    return found


def _pay_words(study: Study) -> list[str]:
    """What is wrong with the words on pay where an hour is paid."""
    found = []
    if not study.currency:
        found.append(_("An hour is paid, but the study has no currency: people read an amount alone."))
    text = source_of(study, ACTIVITY)
    text = source_of(study) if text is None and not by_invitation(study) else text
    if text is not None and "{rate}" not in str(text.body):
        found.append(
            _("The consent text does not name the pay per hour: write %(place)s where it speaks of pay.")
            % {"place": "{rate}"}
        )
    return found


def _closed(study: Study) -> str:
    """Why nobody can annotate while the study is as it is; empty where they can."""
    words = {
        Study.Status.DRAFT: _(
            "Nobody can join or annotate yet: the study is a draft. Start its pilot or open it."
        ),
        Study.Status.PAUSED: _("Nobody can join or annotate now: the study is paused."),
        Study.Status.CLOSED: _("Nobody can join or annotate any more: the study is closed."),
    }
    return words.get(Study.Status(study.status), "")


def _few_tries(settings: AnnotationSettings) -> list[str]:
    """Languages with references for one calibration, but for fewer than a person may try."""
    words = _("References in %(language)s are enough for %(tries)s of %(of)s tries at calibration.")
    return [
        words % {"language": _name(language), "tries": one.tries, "of": settings.calibration_tries}
        for language, one in tries_by_language(settings).items()
        if 0 < one.tries < settings.calibration_tries
    ]


def _name(language: str) -> str:
    return str(Language(language).label)


def _open_invitations(study: Study) -> bool:
    return Invitation.objects.filter(study=study, closed_at=None).exists()


def without_chinese(taxonomy: Taxonomy) -> list[str]:
    """Keys of categories and dimensions that lack a Chinese name or end."""
    categories = taxonomy.categories.filter(name_zh="").values_list("key", flat=True)
    dimensions = taxonomy.dimensions.filter(Q(name_zh="") | Q(low_zh="") | Q(high_zh=""))
    return [*categories, *dimensions.values_list("key", flat=True)]


def invitations_of(study: Study) -> list[tuple[Invitation, int]]:
    """Every invitation, the newest first, with how many joined by it."""
    rows = Invitation.objects.filter(study=study).annotate(joined=Count("annotators")).order_by("-pk")
    return [(row, row.joined) for row in rows]


def taxonomies_for(study: Study) -> list[Taxonomy]:
    """Versions this study may score by: its own, and what ships; the newest of a name first."""
    rows = Taxonomy.objects.filter(Q(study=study) | Q(study=None)).select_related("copied_from", "created_by")
    return list(rows.annotate(n=Count("dimensions")).order_by("study", "name", "-version"))


def access_taxonomy(study: Study, name: str, version: int) -> Taxonomy:
    """A version that this study may see: its own or one that ships; NotFound for others' and none."""
    rows = Taxonomy.objects.filter(Q(study=study) | Q(study=None))
    found = rows.filter(name=name, version=version).first()
    if found is None:
        raise NotFound("no_taxonomy", _("There is no such taxonomy."))
    return found


def annotator_counts(study: Study) -> dict[str, Any]:
    """How many annotators are in which state; those who left are in none."""
    rows = Annotator.objects.filter(participant__study=study, participant__erased_at=None)
    states = Counter(rows.values_list("state", flat=True))
    return {
        "all": sum(states.values()),
        "states": [(label, states[value]) for value, label in Annotator.State.choices if states[value]],
        "paused": rows.filter(paused_at__isnull=False).count(),
    }

"""Reference sets: dialogues whose scores are known, made of reviewed dialogues or brought by an import."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from statistics import median
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.layers import scores_in_layer
from annotation.models import BatchItem, Layer, ReferenceDialogue, ReferenceScore, ReviewCase
from annotation.services.rater_places import lock_places
from annotation.services.settings import settings_of
from dialogues.models import Dialogue, StudyItem
from studies import audit
from studies.models import Study
from turingsite.errors import Conflict, DomainError, Invalid, NotFound

MIDDLE = 3
LEAST_RATERS = 2  # of a known score that outlives the erasure of one of its raters
#: A known score: 1 … 5, or None where the reference heard no evidence.
Known = Mapping[str, int | None]


class Made(NamedTuple):
    """``references`` that were made; ``refused``: why not, in words, by the dialogue's code."""

    references: list[ReferenceDialogue]
    refused: dict[str, str]


@transaction.atomic
def make_reference(
    *,
    study: Study,
    dialogues: Iterable[Dialogue],
    role: str,
    source: str = "review",
    user: Any = None,
    now: datetime | None = None,
) -> Made:
    """Make references of reviewed dialogues: what the raters' revised scores agree on becomes known.

    Those that can't be used are left out, each with its reason; the others are made. Their raters' own scores
    stay in the analysis, but nobody is given these dialogues as ordinary work any more.
    """
    made = Made([], {})
    for dialogue in dialogues:
        try:
            with transaction.atomic():
                scores = agreed_scores(study, dialogue)
                reference = add_reference_scores(
                    study=study,
                    dialogue=dialogue,
                    role=role,
                    source=source,
                    scores=scores,
                    user=user,
                    now=now,
                )
        except DomainError as error:
            made.refused[dialogue.code] = str(error)
        else:
            made.references.append(reference)
    return made


def agreed_scores(study: Study, dialogue: Dialogue) -> Known:
    """Per dimension the consensus of the raters' scores as reviewed. Conflict ``not_reviewed`` while the
    review is open, ``no_scores`` where it left none.
    """
    if not ReviewCase.objects.filter(study=study, dialogue=dialogue, state=ReviewCase.State.CLOSED).exists():
        raise Conflict("not_reviewed", _("Its review is not closed yet."))
    given: dict[str, list[int | None]] = defaultdict(list)
    rows = scores_in_layer(study, Layer.TRUTH_SHOWN).filter(dialogue=dialogue)
    for key, value, evidence in rows.values_list("dimension__key", "value", "evidence"):
        given[key].append(value if evidence else None)
    if not given:
        raise Conflict("no_scores", _("It has no reviewed scores."))
    return {key: consensus(values) for key, values in given.items()}


def consensus(values: Iterable[int | None]) -> int | None:
    """What several scores of one dimension come to; None, no evidence, unless more than half heard some.

    The median of those with evidence; between two steps the one nearer to the middle, so that no score is
    clear on which they were not: 4 and 5 make 4, 3 and 4 make 3, 2 and 5 make 3.
    """
    given = list(values)
    heard = [value for value in given if value is not None]
    if 2 * len(heard) <= len(given):
        return None
    middle = median(heard)
    return int(middle) if middle > MIDDLE else -int(-middle // 1)


@transaction.atomic
def forget_rater(study: Study, dialogues: Collection[int]) -> int:
    """Once a rater's scores on ``dialogues`` are gone: known scores that a review made of them, anew.

    With fewer than two raters left the known scores would be those of one person: the reference is retired
    and its scores go. Each leaves a line in the audit trail; how many known scores went or were changed.
    """
    found = ReferenceDialogue.objects.select_for_update(of=("self",)).filter(
        study=study, dialogue__in=dialogues, source="review"
    )
    return sum(_without(reference) for reference in found.select_related("study", "dialogue").order_by("pk"))


def _without(reference: ReferenceDialogue) -> int:
    rows = scores_in_layer(reference.study, Layer.TRUTH_SHOWN).filter(dialogue=reference.dialogue_id)
    given: dict[int, dict[int, int | None]] = defaultdict(dict)
    for rater, dimension, value, evidence in rows.values_list("rater", "dimension", "value", "evidence"):
        given[dimension][rater] = value if evidence else None
    changed = 0
    for known in reference.scores.all():
        values = given[known.dimension_id].values()
        if len(values) < LEAST_RATERS:
            changed += known.delete()[0]
            continue
        agreed = consensus(values)
        was = (known.value, known.evidence)
        known.value, known.evidence = agreed or MIDDLE, agreed is not None
        if was != (known.value, known.evidence):
            known.save(update_fields=["value", "evidence"])
            changed += 1
    left = reference.scores.count()
    if not left and reference.is_active:
        ReferenceDialogue.objects.filter(pk=reference.pk).update(is_active=False)
    audit.record(
        "reference.reckoned_anew", study=reference.study, target=reference.dialogue.code, rows=changed,
        scores=left,
    )  # fmt: skip
    return changed


@transaction.atomic
def add_reference_scores(
    *,
    study: Study,
    dialogue: Dialogue,
    role: str,
    source: str,
    scores: Known,
    user: Any = None,
    now: datetime | None = None,
) -> ReferenceDialogue:
    """Make a dialogue of the study a reference with these scores, by the keys of the study's dimensions.

    One that was retired comes back with the new scores. NotFound ``no_dialogue`` for a dialogue of no part in
    the study; Invalid ``unknown_dimension``, ``bad_score``; Conflict ``no_scores``, ``is_reference`` (active
    already), ``being_annotated``.
    """
    if role not in ReferenceDialogue.Role.values:
        raise Invalid("unknown_role", _("A reference is for calibration, or gold."))
    if not StudyItem.objects.filter(study=study, dialogue=dialogue).exists():
        raise NotFound("no_dialogue", _("It is not in this study."))
    settings = settings_of(study)
    dimensions = {one.key: one for one in settings.taxonomy.dimensions.all()}
    _check(scores, dimensions)
    lock_places(settings)
    refuse_busy(study, dialogue)
    found = ReferenceDialogue.objects.select_for_update().filter(study=study, dialogue=dialogue).first()
    if found is not None and found.is_active:
        raise Conflict("is_reference", _("It is a reference already."))
    now = now or timezone.now()
    values = {"role": role, "source": source, "is_active": True, "added_at": now, "added_by": user}
    reference, _made = ReferenceDialogue.objects.update_or_create(
        study=study, dialogue=dialogue, defaults=values
    )
    reference.scores.all().delete()
    ReferenceScore.objects.bulk_create(
        ReferenceScore(
            reference=reference, dimension=dimensions[key], value=value or MIDDLE, evidence=value is not None
        )
        for key, value in scores.items()
    )
    audit.record(
        "reference.made", study=study, user=user, target=dialogue.code, now=now, role=role, source=source,
        scores=len(scores),
    )  # fmt: skip
    return reference


@transaction.atomic
def retire(*, reference: ReferenceDialogue, user: Any = None) -> None:
    """Give it to nobody any more as known; it may be ordinary work again. Calibrations that have it go on."""
    if ReferenceDialogue.objects.filter(pk=reference.pk, is_active=True).update(is_active=False):
        audit.record("reference.retired", study=reference.study, user=user, target=reference.dialogue.code)
    reference.is_active = False


@transaction.atomic
def activate(*, reference: ReferenceDialogue, user: Any = None) -> None:
    """Use a retired one again, with the scores it has. Conflict ``being_annotated`` and ``no_scores`` (an
    erasure took them) as when it is made.
    """
    if not reference.scores.exists():
        raise Conflict("no_scores", _("It has no scores."))
    lock_places(settings_of(reference.study))
    refuse_busy(reference.study, reference.dialogue)
    if ReferenceDialogue.objects.filter(pk=reference.pk, is_active=False).update(is_active=True):
        audit.record("reference.activated", study=reference.study, user=user, target=reference.dialogue.code)
    reference.is_active = True


def refuse_busy(study: Study, dialogue: Dialogue) -> None:
    """Conflict ``being_annotated`` while somebody has the dialogue in hand as ordinary work. Callers hold the
    study's places, so that nobody is given it at this moment.
    """
    in_hand = BatchItem.objects.filter(
        study=study,
        dialogue=dialogue,
        state=BatchItem.State.OPEN,
        purpose__in=(BatchItem.Purpose.WORK, BatchItem.Purpose.REPEAT),
    )
    if in_hand.exists():
        raise Conflict("being_annotated", _("Somebody is annotating it at the moment. Try again later."))


def _check(scores: Known, dimensions: Mapping[str, Any]) -> None:
    if not scores:
        raise Conflict("no_scores", _("It has no scores."))
    unknown = sorted(set(scores) - set(dimensions))
    if unknown:
        raise Invalid("unknown_dimension", _("There is no dimension “%(key)s”.") % {"key": unknown[0]})
    for key, value in scores.items():
        if value is not None and value not in range(1, 6):
            message = _("%(key)s: a score is 1 to 5, or no evidence.") % {"key": key}
            raise Invalid("bad_score", message)

"""Which reviewed dialogues would make a good reference set: kinds alike, clear scores against the truth."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.layers import scores_in_layer
from annotation.models import AnnotationSettings, Layer, ReferenceDialogue, ReviewCase
from annotation.services.references import MIDDLE, consensus
from dialogues.models import Dialogue, Nature
from studies.assignment import seeded

SAMPLES = 300  # drawn for each language; the best of them is proposed


class Candidate(NamedTuple):
    """A reviewed dialogue: how many of its scores are clear (1–2, 4–5), how many point against its truth."""

    dialogue: Dialogue
    clear: int
    against: int


class Proposal(NamedTuple):
    """What would be made; ``share`` of the clear scores points against the truth, None without any."""

    candidates: list[Candidate]
    share: float | None
    pool: int


def reviewed_dialogues(settings: AnnotationSettings) -> QuerySet[Dialogue]:
    """Playable dialogues with a closed review that are no reference now; retired ones come again."""
    study = settings.study
    closed = ReviewCase.objects.filter(study=study, state=ReviewCase.State.CLOSED).values("dialogue")
    active = ReferenceDialogue.objects.filter(study=study, is_active=True).values("dialogue")
    known = scores_in_layer(study, Layer.TRUTH_SHOWN).values_list("dialogue", flat=True).distinct()
    return (
        Dialogue.objects.playable()
        .filter(pk__in=closed, language__in=study.languages, study_items__study=study)
        .filter(pk__in=set(known))
        .exclude(pk__in=active)
        .order_by("pk")
    )


def candidates_of(settings: AnnotationSettings) -> list[Candidate]:
    """The dialogues that may become references, with their scores counted. Reads all their scores."""
    rows = list(reviewed_dialogues(settings))
    given: dict[int, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    scores = scores_in_layer(settings.study, Layer.TRUTH_SHOWN).filter(dialogue__in=rows)
    for dialogue, key, value, evidence in scores.values_list(
        "dialogue", "dimension__key", "value", "evidence"
    ):
        given[dialogue][key].append(value if evidence else None)
    found = []
    for row in rows:
        known = [consensus(values) for values in given[row.pk].values()]
        clear = [value for value in known if value is not None and value != MIDDLE]
        against = sum((value > MIDDLE) != (row.truth == Nature.HUMAN) for value in clear)
        found.append(Candidate(row, len(clear), against))
    return found


def propose(settings: AnnotationSettings, n: int) -> Proposal:
    """``n`` dialogues in each language of the study, or all there are; the same until something changes.

    Kinds as alike in number as the material allows; then at least the share of clear scores against the truth
    that calibration wants, or as near to it as one of the drawn samples comes.
    """
    pool = candidates_of(settings)
    taken: list[Candidate] = []
    for language in settings.study.languages:
        mine = [one for one in pool if one.dialogue.language == language]
        rng = seeded(settings.study.seed, "references", language, len(pool))
        taken += sampled(mine, n, settings.calibration_against, rng)
    return Proposal(taken, share_of(taken), len(pool))


def sampled(pool: Sequence[Candidate], n: int, target: float, rng: random.Random) -> list[Candidate]:
    """``n`` of ``pool``, kinds balanced; of many such samples the one that lacks least of ``target``."""
    quotas = quotas_of(Counter(one.dialogue.kind for one in pool), n)
    best: list[Candidate] = []
    for _draw in range(SAMPLES):
        sample = [
            one
            for kind in sorted(quotas)
            for one in rng.sample([each for each in pool if each.dialogue.kind == kind], quotas[kind])
        ]
        if not best or lacking(sample, target) < lacking(best, target):
            best = sample
        if not lacking(best, target):
            break
    return best


def quotas_of(there: Counter[str], n: int) -> dict[str, int]:
    """How many of each kind: alike, and where a kind has fewer, more of the others."""
    quotas = dict.fromkeys(there, 0)
    while sum(quotas.values()) < min(n, sum(there.values())):
        kind = min(
            (kind for kind in there if quotas[kind] < there[kind]), key=lambda kind: (quotas[kind], kind)
        )
        quotas[kind] += 1
    return quotas


def share_of(sample: Sequence[Candidate]) -> float | None:
    clear = sum(one.clear for one in sample)
    return sum(one.against for one in sample) / clear if clear else None


def lacking(sample: Sequence[Candidate], target: float) -> float:
    """By how much the share falls short; nothing clear at all lacks the whole."""
    share = share_of(sample)
    return max(0.0, target - share) if share is not None else target

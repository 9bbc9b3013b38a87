"""Simulated reviewers of the demo: they hear better than raters do, and they see the truth."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from annotation.models import ReviewCase, Score
from annotation.services import reviewing
from annotation.services.review_cases import differ, refresh_cases, scores_of, standing
from dialogues.models import Nature
from studies.models import Study
from turingsite.demo.annotating import Ears

CLOSED, DISCUSSED = 12, 2  # cases of a language
FAR = 1.4  # steps from what a reviewer hears at which they propose another score
PULL = 0.35  # how far the truth in sight moves what they hear
NOISE = 0.35
REASON = "Heard again at this place: the score is too far from what is there."
AGREED = "Agreed after both listened again."


def review(study: Study, ears: Ears, reviewers: Sequence[Any], *, until: datetime) -> None:
    """Review the most disputed dialogues of each language; some stay in discussion, the rest waits."""
    refresh_cases(study, until - timedelta(hours=12))
    for language in study.languages:
        cases = ReviewCase.objects.filter(study=study, dialogue__language=language).select_related(
            "dialogue", "study"
        )
        for number, case in enumerate(cases.order_by("-disagreement", "pk")[: CLOSED + DISCUSSED]):
            if case.state != ReviewCase.State.WAITING:
                continue
            now = until - timedelta(hours=10) + timedelta(minutes=20 * number)
            # Those left open come first: the queue shows the most disputed on top.
            _case(case, ears, reviewers, now=now, close=number >= DISCUSSED)


@transaction.atomic
def _case(case: ReviewCase, ears: Ears, reviewers: Sequence[Any], *, now: datetime, close: bool) -> None:
    heard = ears.heard(case.dialogue)
    pole = PULL if case.dialogue.truth == Nature.HUMAN else -PULL
    scores = scores_of(case)
    for reviewer in reviewers:
        rng = random.Random(f"{case.study.seed}/{case.dialogue.external_id}/{reviewer.username}")
        for score in scores:
            level = heard[score.dimension.key].level + pole + rng.gauss(0, NOISE)
            if score.evidence and abs(score.value - level) > FAR:
                _propose(case, score, reviewer, min(5, max(1, round(level))), now)
        case.refresh_from_db()
        reviewing.approve_lot(case=case, reviewer=reviewer, version=case.version, now=now)
        now += timedelta(minutes=6)
    case.refresh_from_db()
    open_ones = [score for score in scores if differ(standing(case, [score])[score.pk])]
    if not open_ones:
        return
    reviewing.comment(case=case, author=reviewers[0], text=REASON, now=now)
    if close:
        for score in open_ones:
            case.refresh_from_db()
            level = min(5, max(1, round(heard[score.dimension.key].level + pole)))
            reviewing.agree(
                case=case, score=score, reviewer=reviewers[1], value=level, reason=AGREED,
                version=case.version, now=now + timedelta(minutes=5),
            )  # fmt: skip


def _propose(case: ReviewCase, score: Score, reviewer: Any, value: int, now: datetime) -> None:
    case.refresh_from_db()
    reviewing.decide(
        case=case, score=score, reviewer=reviewer, decision="propose", value=value, reason=REASON,
        version=case.version, now=now,
    )  # fmt: skip

"""What reviewers do: approve, propose, discuss, agree. All is kept, with who, when and why.

A score stands when all reviewers that the study asks for approve it or propose the same value; where they
differ, a discussion is open until one of them closes it with the value they agreed on.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from annotation.models import Dimension, Resolution, ReviewCase, ReviewComment, ReviewDecision, Score
from annotation.scored import Scored
from annotation.services.review_cases import differ, follow, scores_of, settle, shown, standing
from annotation.services.review_rules import (
    enter,
    given_in,
    reason_in,
    refuse_foreign,
    refuse_moved,
    refuse_resolved,
    words_in,
)
from studies import audit
from turingsite.errors import Conflict, Invalid, Refused

Decision = ReviewDecision.Decision


@transaction.atomic
def decide(
    *,
    case: ReviewCase,
    score: Score,
    reviewer: Any,
    decision: str,
    value: int | None = None,
    evidence: bool = True,
    reason: str = "",
    version: int,
    now: datetime,
) -> ReviewDecision:
    """Approve ``score``, or propose ``value`` for it (without evidence: none is needed) with the reason.

    An earlier decision of the same reviewer is superseded and kept; the same one again changes nothing.
    Invalid for a value that cannot be; Refused for who may not review; Conflict where the review has ended,
    ``Moved`` where somebody decided otherwise since ``version``.
    """
    locked = enter(case, reviewer, seat=True)
    refuse_foreign(locked, score)
    if decision == Decision.APPROVE:
        given, reason = Scored(score.value, score.evidence), ""
    elif decision == Decision.PROPOSE:
        given, reason = given_in(value, evidence), reason_in(reason)
        if given == Scored(score.value, score.evidence):
            raise Invalid(
                "same_score", _("This is the score it has. Approve it instead."), fields={"value": ""}
            )
    else:
        raise Invalid("bad_decision", _("Approve the score, or propose another value."))
    refuse_moved(locked, [(score, given)], version)
    refuse_resolved(score)
    mine = ReviewDecision.objects.filter(score=score, reviewer=reviewer, superseded_at=None).first()
    if mine and (mine.value, mine.evidence, mine.reason) == (*given, reason):
        return mine
    row = ReviewDecision(
        case=locked, score=score, reviewer=reviewer, decision=decision, value=given.value,
        evidence=given.evidence, reason=reason, given_at=now,
    )  # fmt: skip
    found = _store(locked, [row], [score], now)
    audit.record(
        "review.decided",
        study=locked.study,
        user=reviewer,
        target=locked.code,
        now=now,
        decision=str(decision),
        dimension=score.dimension.key,
    )
    follow(locked, now=now, user=reviewer)
    return found[0]


@transaction.atomic
def approve_lot(
    *,
    case: ReviewCase,
    reviewer: Any,
    version: int,
    now: datetime,
    dimension: Dimension | None = None,
) -> int:
    """Approve every score of ``dimension``, or of the case, on which ``reviewer`` has not decided; how many.

    Raises as ``decide``: also where somebody proposed another value for one of them since ``version``.
    """
    locked = enter(case, reviewer, seat=True)
    said = standing(locked)
    resolved = set(Resolution.objects.filter(case=locked).values_list("score", flat=True))
    mine = {pk for pk, rows in said.items() if any(row.reviewer_id == reviewer.pk for row in rows)}
    lot = [
        score
        for score in scores_of(locked)
        if score.pk not in mine and (dimension is None or score.dimension_id == dimension.pk)
    ]
    refuse_moved(locked, [(score, Scored(score.value, score.evidence)) for score in lot], version)
    lot = [score for score in lot if score.pk not in resolved]
    rows = [
        ReviewDecision(
            case=locked, score=score, reviewer=reviewer, decision=Decision.APPROVE, value=score.value,
            evidence=score.evidence, in_lot=True, given_at=now,
        )
        for score in lot
    ]  # fmt: skip
    if not rows:
        return 0
    _store(locked, rows, lot, now)
    key = dimension.key if dimension else ""
    audit.record(
        "review.lot_approved",
        study=locked.study,
        user=reviewer,
        target=locked.code,
        now=now,
        scores=len(rows),
        dimension=key,
    )
    follow(locked, now=now, user=reviewer)
    return len(rows)


@transaction.atomic
def comment(
    *, case: ReviewCase, author: Any, text: str, now: datetime, dimension: Dimension | None = None
) -> ReviewComment:
    """Say something on ``dimension``, or on the whole case. Invalid for an empty or overlong text."""
    locked = enter(case, author, seat=False)
    made = ReviewComment.objects.create(
        case=locked, dimension=dimension, author=author, text=words_in(text, "text"), given_at=now
    )
    key = dimension.key if dimension else ""
    audit.record(
        "review.commented", study=locked.study, user=author, target=locked.code, now=now, dimension=key
    )
    return made


@transaction.atomic
def agree(
    *,
    case: ReviewCase,
    score: Score,
    reviewer: Any,
    value: int | None,
    evidence: bool = True,
    reason: str,
    version: int,
    now: datetime,
) -> Resolution:
    """Close the difference on ``score`` with the value that the reviewers agreed on.

    Only one who decided in this case may, and only after another reviewer has said something on the dimension
    or the whole: no difference is closed by one person alone. Raises as ``decide``; ``Moved`` also where
    anything was decided on the score since ``version``.
    """
    locked = enter(case, reviewer, seat=True)
    refuse_foreign(locked, score)
    given, words = given_in(value, evidence), reason_in(reason)
    refuse_moved(locked, [(score, None)], version, besides=reviewer)
    refuse_resolved(score)
    if not ReviewDecision.objects.filter(case=locked, reviewer=reviewer).exists():
        raise Refused("not_in_it", _("Decide on a score of this case first: then you can close differences."))
    if not differ(standing(locked, [score])[score.pk]):
        raise Conflict("no_difference", _("Nobody differs on this score. Decide on it instead."))
    said = ReviewComment.objects.filter(case=locked).exclude(author=reviewer)
    if not said.filter(dimension=score.dimension).exists() and not said.filter(dimension=None).exists():
        raise Conflict(
            "no_discussion", _("Nobody else has said anything yet. Discuss it first, then close it.")
        )
    locked.version += 1
    result = shown(score, given, now)
    result.save(force_insert=True)
    made = Resolution.objects.create(
        case=locked, score=score, result=result, how=Resolution.How.AGREED, reason=words, closed_by=reviewer,
        version=locked.version, closed_at=now,
    )  # fmt: skip
    audit.record(
        "review.agreed",
        study=locked.study,
        user=reviewer,
        target=locked.code,
        now=now,
        dimension=score.dimension.key,
    )
    follow(locked, now=now, user=reviewer)
    return made


@transaction.atomic
def decide_each(
    *, scores: Iterable[Score], approve: bool, value: int | None, reason: str = "", **more: Any
) -> int:
    """The same wish for several scores: ``decide`` on each, all or none; how many.

    ``value`` None is no evidence. A score that has the value already is approved.
    """
    wanted = None if approve else given_in(value, value is not None)
    scores = list(scores)
    if not scores:
        raise Invalid("not_of_case", _("This score is not in this review."))
    for score in scores:
        if wanted is None or (wanted == (score.value, score.evidence) and len(scores) > 1):
            decide(score=score, decision=Decision.APPROVE, **more)
            continue
        decide(
            score=score,
            decision=Decision.PROPOSE,
            value=wanted.value,
            evidence=wanted.evidence,
            reason=reason,
            **more,
        )
    return len(scores)


@transaction.atomic
def agree_each(*, scores: Iterable[Score], value: int | None, reason: str, **more: Any) -> int:
    """The same agreed value for several scores: ``agree`` on each, all or none; how many."""
    scores = list(scores)
    if not scores:
        raise Invalid("not_of_case", _("This score is not in this review."))
    for score in scores:
        agree(score=score, value=value, evidence=value is not None, reason=reason, **more)
    return len(scores)


def _store(
    case: ReviewCase, rows: list[ReviewDecision], scores: list[Score], now: datetime
) -> list[ReviewDecision]:
    """Write decisions in place of earlier ones of the same reviewer, and let stand what stands by them."""
    case.version += 1
    reviewer = rows[0].reviewer
    ReviewDecision.objects.filter(score__in=scores, reviewer=reviewer, superseded_at=None).update(
        superseded_at=now
    )
    for row in rows:
        row.version = case.version
    made = ReviewDecision.objects.bulk_create(rows)
    settle(case, scores, now=now)
    return made

"""What is shown when two decide at once: what the other did, one's own input, and the choice."""

from __future__ import annotations

from typing import Any

from annotation.models import Resolution, ReviewCase, ReviewDecision
from annotation.review.case_page import NONE, number_of, scale_of, scores_named, shown_value
from annotation.review.forms import APPROVE, Sent
from annotation.services.review_rules import Moved


def conflict_page(case: ReviewCase, user: Any, form: Sent, act: str, moved: Moved) -> dict[str, Any]:
    """The context of the page. ``act``: the name of the address to send it to again.

    ``theirs``: value and reason of the one other decision, where it can be taken over as it is. ``ended``:
    scores whose review has ended meanwhile are sent no more.
    """
    scores = scores_named(case, form.scores)
    ended = {row.score_id for row in moved.resolutions}
    left = [score for score in scores if score.pk not in ended]
    happened = [_decision(case, row, user) for row in moved.decisions]
    happened += [_resolution(case, row, user) for row in moved.resolutions]
    one = moved.decisions[0] if len(moved.decisions) == 1 and len(left) == 1 and act != "agree" else None
    theirs = None
    if one is not None and one.reviewer_id != user.pk:
        approves = one.decision == ReviewDecision.Decision.APPROVE
        theirs = {"choice": APPROVE if approves else str(shown_value(one)), "reason": one.reason}
    return {
        "case": case,
        "study": case.study,
        "form": form,
        "act": act,
        "happened": happened,
        "mine": [
            {"dimension": score.dimension, "number": number_of(case, score), "value": shown_value(score)}
            for score in scores
        ],
        "names": [name for name in form.scores if any(_is(case, score, name) for score in left)],
        "approves": act == "approve" or form.choice == APPROVE,
        "choice": form.choice,
        "none": str(NONE),
        "can_send": bool(left) or not form.scores,
        "theirs": theirs,
        "scale": scale_of(case.study.annotation.taxonomy),
    }


def _is(case: ReviewCase, score: Any, name: str) -> bool:
    return f"{score.dimension.key}.{number_of(case, score)}" == name


def _decision(case: ReviewCase, row: ReviewDecision, user: Any) -> dict[str, Any]:
    return {
        "who": row.reviewer.get_username(),
        "you": row.reviewer_id == user.pk,
        "at": row.given_at,
        "dimension": row.score.dimension,
        "number": number_of(case, row.score),
        "approves": row.decision == ReviewDecision.Decision.APPROVE,
        "value": shown_value(row),
        "reason": row.reason,
        "ended": False,
    }


def _resolution(case: ReviewCase, row: Resolution, user: Any) -> dict[str, Any]:
    return {
        "who": row.closed_by.get_username() if row.closed_by else "",
        "you": row.closed_by_id == user.pk,
        "at": row.closed_at,
        "dimension": row.score.dimension,
        "number": number_of(case, row.score),
        "approves": False,
        "value": shown_value(row.result),
        "reason": row.reason,
        "ended": True,
    }

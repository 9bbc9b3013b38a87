"""What a review refuses, and to whom: not one's own ratings, not a fourth reviewer, nothing unseen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import Resolution, ReviewCase, ReviewDecision, Score
from annotation.review.access import has_rated, is_reviewer
from annotation.review.disagreement import LEANING_NOWHERE
from annotation.scored import Scored
from annotation.services.review_cases import keys_of, seats
from annotation.services.settings import settings_of
from turingsite.errors import Conflict, Invalid, Refused

LONGEST = 2000  # characters of a reason or comment


class Moved(Conflict):
    """Others decided otherwise on these scores since the page was read; nothing was stored."""

    def __init__(self, decisions: Sequence[ReviewDecision], resolutions: Sequence[Resolution]) -> None:
        super().__init__("review_moved", _("Meanwhile somebody decided otherwise. Nothing was stored yet."))
        self.decisions = decisions
        self.resolutions = resolutions


def is_full_for(case: ReviewCase, reviewer: Any) -> bool:
    """Whether all places of the case are held by others."""
    held = seats(case)
    return reviewer.pk not in held and len(held) >= settings_of(case.study).reviewers


def enter(case: ReviewCase, reviewer: Any, *, seat: bool) -> ReviewCase:
    """The case, locked until the transaction ends: two reviewers at once come one after the other."""
    locked = ReviewCase.objects.select_for_update(of=("self",)).select_related("study").get(pk=case.pk)
    if not is_reviewer(reviewer, locked.study):
        raise Refused("not_reviewer", _("You have no part as a reviewer in this study."))
    if has_rated(reviewer, locked.dialogue):
        raise Refused("rated_it", _("You rated this dialogue, so others review it."))
    if locked.state == ReviewCase.State.CLOSED:
        raise Conflict("closed", _("This review is closed. Nothing was changed."))
    if seat and is_full_for(locked, reviewer):
        raise Conflict("enough", _("This dialogue has all its reviewers. Take another one."))
    return locked


def refuse_foreign(case: ReviewCase, score: Score) -> None:
    if score.pk not in keys_of(case):
        raise Invalid("not_of_case", _("This score is not in this review."))


def refuse_resolved(score: Score) -> None:
    if Resolution.objects.filter(score=score).exists():
        raise Conflict("resolved", _("This score is settled. Nothing was changed."))


def refuse_moved(
    case: ReviewCase, wanted: Sequence[tuple[Score, Scored | None]], version: int, besides: Any = None
) -> None:
    """``Moved`` where since ``version`` one of the scores got another value than the one wanted (any, for
    None), from somebody else or from another page of the same person (not of ``besides``).
    """
    if not 0 <= version <= case.version:
        raise Invalid("bad_version", _("Load the page again, then decide."))
    mine = {score.pk: given for score, given in wanted}
    since = {"case": case, "score__in": list(mine), "version__gt": version}
    decisions = ReviewDecision.objects.filter(**since, superseded_at=None).exclude(reviewer=besides)
    decisions = decisions.select_related("reviewer", "score__dimension").order_by("given_at", "pk")
    resolutions = Resolution.objects.filter(**since).select_related("result", "closed_by", "score__dimension")
    other = [row for row in decisions if Scored(row.value, row.evidence) != mine[row.score_id]]
    ended = [
        row for row in resolutions if Scored(row.result.value, row.result.evidence) != mine[row.score_id]
    ]
    if other or ended:
        raise Moved(other, ended)


def given_in(value: int | None, evidence: bool) -> Scored:
    if not evidence:
        return Scored(LEANING_NOWHERE, False)
    if value not in (1, 2, 3, 4, 5):
        message = _("Choose a score from 1 to 5, or no evidence.")
        raise Invalid("bad_score", message, fields={"value": message})
    return Scored(int(value), True)


def reason_in(text: str) -> str:
    return words_in(text, "reason")


def words_in(text: str, field: str) -> str:
    text = text.strip()
    if not text:
        message = _("Say why.") if field == "reason" else _("Write something first.")
        raise Invalid("no_words", message, fields={field: message})
    if len(text) > LONGEST:
        message = _("Keep it to 2,000 characters.")
        raise Invalid("too_long", message, fields={field: message})
    return text

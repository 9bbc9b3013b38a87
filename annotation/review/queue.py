"""The queue of a study's reviews: largest disagreement first, by pages, with how far it has come."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from annotation.layers import reviewed_scores
from annotation.models import ReviewCase, ReviewDecision
from annotation.review.access import is_reviewer, rated_by
from annotation.services.review_cases import chunks, untouched_by
from annotation.services.settings import settings_of
from studies.models import Study, StudyMember

SIZE = 50
State = ReviewCase.State
SHOWS = {
    "mine": _("Waiting for you"),
    "discussion": _("In discussion"),
    "closed": _("Closed"),
    "all": _("All"),
}


class Row(NamedTuple):
    """``left``: scores on which this person has not decided. ``why``: why they don't: rated, full, closed."""

    case: ReviewCase
    scores: int
    left: int
    seats: int
    why: str


class Page(NamedTuple):
    """Rows to show; ``first`` and ``following`` are addresses, empty where there is no such page."""

    rows: list[Row]
    first: str
    following: str


class Progress(NamedTuple):
    """Cases by state. ``mine``: those that wait for this person."""

    closed: int
    discussion: int
    total: int
    mine: int


def cases_of(study: Study, user: Any) -> QuerySet[ReviewCase, Any]:
    """The study's cases with whether ``user`` ``took_part`` and how many places are ``held``."""
    said = ReviewDecision.objects.filter(case=OuterRef("pk"))
    members = StudyMember.objects.filter(study=study, role=StudyMember.Role.REVIEWER, user__is_active=True)
    held = said.filter(reviewer__in=members.values("user")).order_by().values("case")
    count = Subquery(held.annotate(n=Count("reviewer", distinct=True)).values("n"))
    return ReviewCase.objects.filter(study=study).annotate(
        took_part=Exists(said.filter(reviewer=user)),
        held=Coalesce(count, 0, output_field=IntegerField()),
    )


def waiting_for(study: Study, user: Any) -> QuerySet[ReviewCase, Any]:
    """The cases in which ``user`` can still decide on something."""
    wanted = settings_of(study).reviewers
    free = Q(took_part=True) | Q(held__lt=wanted)
    waiting = cases_of(study, user).exclude(state=State.CLOSED).exclude(rated_by(user)).filter(free)
    left: set[int] = set()
    for dialogues in chunks(waiting.values_list("dialogue", flat=True)):
        scores = reviewed_scores(study, dialogues).filter(untouched_by(user, study, dialogues))
        left.update(scores.values_list("dialogue", flat=True).distinct())
    return waiting.filter(dialogue__in=left)


def following_case(case: ReviewCase, user: Any) -> ReviewCase | None:
    """The case to go on with after ``case``: the first other one that waits for ``user``."""
    return waiting_for(case.study, user).exclude(pk=case.pk).order_by("-disagreement", "pk").first()


def page_of(study: Study, user: Any, show: str, after: str) -> Page:
    """One page of what ``show`` names. ``after``: the mark of the last row seen, as in ``following``."""
    rows = waiting_for(study, user) if show == "mine" else cases_of(study, user)
    if show in (State.DISCUSSION, State.CLOSED):
        rows = rows.filter(state=show)
    mark = _mark(after)
    if mark is not None:
        apart, key = mark
        rows = rows.filter(Q(disagreement__lt=apart) | Q(disagreement=apart, pk__gt=key))
    found = list(rows.select_related("dialogue").order_by("-disagreement", "pk")[: SIZE + 1])
    shown = found[:SIZE]
    last = shown[-1] if len(found) > SIZE else None
    following = f"?{urlencode({'show': show, 'after': f'{last.disagreement!r}~{last.pk}'})}" if last else ""
    rows_shown = _rows(study, user, shown)
    return Page(rows_shown, f"?{urlencode({'show': show})}" if mark else "", following)


def _rows(study: Study, user: Any, cases: list[Any]) -> list[Row]:
    """The cases with what is left of them to ``user``, and why nothing is."""
    dialogues = [case.dialogue_id for case in cases]
    scores = reviewed_scores(study, dialogues)
    of = dict(scores.values_list("dialogue").annotate(n=Count("pk")))
    left = dict(
        scores.filter(untouched_by(user, study, dialogues)).values_list("dialogue").annotate(n=Count("pk"))
    )
    mine = ReviewCase.objects.filter(pk__in=[case.pk for case in cases])
    rated = set(mine.filter(rated_by(user)).values_list("pk", flat=True))
    wanted = settings_of(study).reviewers
    reviews = is_reviewer(user, study)
    return [
        Row(
            case,
            of.get(case.dialogue_id, 0),
            left.get(case.dialogue_id, 0),
            case.held,
            _why(case, wanted, reviews=reviews, rated=case.pk in rated),
        )
        for case in cases
    ]


def _why(case: Any, wanted: int, *, reviews: bool, rated: bool) -> str:
    if not reviews:
        return "reading"
    if rated:
        return "rated"
    if case.state == State.CLOSED:
        return "closed"
    return "full" if not case.took_part and case.held >= wanted else ""


def _mark(after: str) -> tuple[float, int] | None:
    apart, _sep, key = after.partition("~")
    try:
        at = float(apart)
    except ValueError:
        return None
    return (at, int(key)) if key.isdecimal() and len(key) < 19 and 0 <= at <= 1 else None


def progress_of(study: Study, user: Any) -> Progress:
    """How far the study's review has come."""
    counts = ReviewCase.objects.filter(study=study).aggregate(
        closed=Count("pk", filter=Q(state=State.CLOSED)),
        discussion=Count("pk", filter=Q(state=State.DISCUSSION)),
        total=Count("pk"),
    )
    mine = waiting_for(study, user).count() if is_reviewer(user, study) else 0
    return Progress(**counts, mine=mine)

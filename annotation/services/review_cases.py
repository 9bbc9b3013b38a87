"""Cases of the expert review: made once a dialogue has its ratings, their state, how a review ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef, Q

from annotation.layers import reviewed_scores
from annotation.models import Layer, Resolution, ReviewCase, ReviewComment, ReviewDecision, Score
from annotation.review.disagreement import disagreement
from annotation.scored import Scored
from annotation.services.settings import settings_of
from studies import audit
from studies.models import Study, StudyMember

State = ReviewCase.State
CHUNK = 200  # dialogues whose scores are read at once
AT_ONCE = 200  # dialogues that a page brings up to date, in less than a second
SECONDS = 60  # after which a queue that is opened looks again for dialogues that got their ratings
SOON = 3  # the same, while some are left


class Refreshed(NamedTuple):
    """What a refresh did: cases made, changed, taken away; dialogues with new ratings ``left`` for later."""

    made: int
    changed: int
    gone: int
    left: int


def refresh_now_and_then(study: Study, now: datetime) -> int:
    """As ``refresh_cases``, a bounded part and at most once a minute, since a page waits for it; how many
    dialogues with new ratings are left. The sweep, or who looks next, goes on with them.
    """
    key = f"review-cases-{study.pk}"
    if not cache.add(key, 0, SECONDS):
        return int(cache.get(key, 0))
    left = refresh_cases(study, now, most=AT_ONCE).left
    if left:
        cache.set(key, left, SOON)
    return left


def refresh_cases(study: Study, now: datetime, *, whole: bool = False, most: int | None = None) -> Refreshed:
    """Give every dialogue of ``study`` that has its ratings a case, and bring the cases up to date.

    Due is a dialogue with as many raters as the study asks for, or with imported scores. A case whose raters
    changed is reckoned again, all of them with ``whole``: disagreement, what stands by now, state. One that
    nobody touched goes where its dialogue is no longer due; nothing that somebody said is ever removed.
    ``most``: bring no more dialogues up to date than that, those with new ratings first.
    """
    wanted = settings_of(study).raters
    raters, brought = _raters(study)
    due = {dialogue for dialogue, who in raters.items() if len(who) >= wanted or dialogue in brought}
    known = {case.dialogue_id: case for case in ReviewCase.objects.filter(study=study)}
    missing = due - set(known)
    came = {key for key, case in known.items() if set(raters.get(key, ())) - set(case.raters)}
    went = {key for key, case in known.items() if whole or set(case.raters) - set(raters.get(key, ()))}
    stale = [*sorted(missing), *sorted(came), *sorted(went - came)][:most]
    new = [ReviewCase(study=study, dialogue_id=key, made_at=now) for key in stale if key in missing]
    ReviewCase.objects.bulk_create(new, ignore_conflicts=True)  # the queue may be opened twice at once
    gone = changed = 0
    for dialogues in chunks(stale):
        lost, renewed = _reckon(study, dialogues, due, now)
        gone, changed = gone + lost, changed + renewed
    left = max(len(missing) + len(came) - len(stale), 0)
    return Refreshed(len(new), changed - len(new), gone, left)


def sweep(now: datetime) -> int:
    """Refresh the cases of every study that has scores to review, all of them anew; how many studies.

    What the queue's page does not notice by itself: withdrawals that left the number of raters as it was,
    fewer reviewers asked for.
    """
    studies = Study.objects.filter(annotation__isnull=False)
    found = list(studies.filter(Exists(Score.objects.filter(study=OuterRef("pk")))))
    for study in found:
        refresh_cases(study, now, whole=True)
    return len(found)


def _raters(study: Study) -> tuple[dict[int, list[int]], set[int]]:
    """Raters by dialogue in the order in which they came, and the dialogues with imported scores."""
    found: dict[int, list[int]] = defaultdict(list)
    rated = Score.objects.filter(study=study, layer=Layer.RAW).values_list("dialogue", flat=True)
    brought: set[int] = set()
    for dialogues in chunks(rated.distinct().order_by("dialogue")):
        rows = reviewed_scores(study, dialogues).values_list("dialogue", "rater")
        came = rows.annotate(first=Min("given_at"), items=Count("item")).order_by("first", "rater")
        for dialogue, rater, _first, items in came:
            found[dialogue].append(rater)
            if not items:
                brought.add(dialogue)
    return found, brought


def chunks(keys: Iterable[int]) -> Iterator[list[int]]:
    """``keys`` of dialogues by parts whose scores can be read at once."""
    keys = list(keys)
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]


@transaction.atomic
def _reckon(study: Study, dialogues: list[int], due: set[int], now: datetime) -> tuple[int, int]:
    """Bring the cases of ``dialogues`` up to date; how many went, how many were changed or made."""
    grids: dict[int, dict[int, list[Scored]]] = defaultdict(lambda: defaultdict(list))
    came: dict[int, list[int]] = defaultdict(list)
    rows = reviewed_scores(study, dialogues).order_by("given_at", "pk")
    for dialogue, rater, dimension, value, evidence in rows.values_list(
        "dialogue", "rater", "dimension", "value", "evidence"
    ):
        grids[dialogue][dimension].append(Scored(value, evidence))
        if rater not in came[dialogue]:
            came[dialogue].append(rater)
    # Locked: a reviewer may be deciding on one of them.
    cases = ReviewCase.objects.select_for_update().filter(study=study, dialogue__in=dialogues)
    found = list(cases.order_by("pk"))
    touched = _touched(found)
    gone = [case.pk for case in found if case.dialogue_id not in due and case.pk not in touched]
    changed = []
    for case in found:
        if case.pk in gone:
            continue
        before = _said(case)
        case.raters += [rater for rater in came[case.dialogue_id] if rater not in case.raters]
        case.disagreement = disagreement(grids[case.dialogue_id])
        if case.pk in touched:
            settle(case, scores_of(case), now=now)
            follow(case, now=now)
        if _said(case) != before:
            changed.append(case)
    ReviewCase.objects.bulk_update(changed, ["disagreement", "raters"])
    ReviewCase.objects.filter(pk__in=gone).delete()
    return len(gone), len(changed)


def _said(case: ReviewCase) -> tuple[Any, ...]:
    return case.state, case.disagreement, tuple(case.raters), case.version


def _touched(cases: list[ReviewCase]) -> set[int]:
    """Keys of those in which somebody decided or said something."""
    found: set[int] = set()
    for model in (ReviewDecision, ReviewComment, Resolution):
        found.update(model.objects.filter(case__in=cases).values_list("case", flat=True).distinct())
    return found


def scores_of(case: ReviewCase) -> list[Score]:
    """The raw scores the case is about, by dimension and rater; those already resolved, too."""
    rows = reviewed_scores(case.study, [case.dialogue_id]).select_related("dimension")
    place = {rater: n for n, rater in enumerate(case.raters)}
    found = [row for row in rows if row.rater_id in place]
    return sorted(found, key=lambda row: (row.dimension.position, place[row.rater_id]))


def keys_of(case: ReviewCase) -> set[int]:
    """Keys of ``scores_of``, where nobody needs the scores themselves."""
    rows = reviewed_scores(case.study, [case.dialogue_id]).filter(rater__in=case.raters)
    return set(rows.values_list("pk", flat=True))


def seats(case: ReviewCase) -> set[int]:
    """Keys of the reviewers who decided in this case and still have the part: they hold its places, and what
    they decided counts. Of others it is kept, and counts again once they have the part again.
    """
    decided = ReviewDecision.objects.filter(case=case).values("reviewer")
    parts = StudyMember.objects.filter(
        study=case.study_id, role=StudyMember.Role.REVIEWER, user__in=decided, user__is_active=True
    )
    return set(parts.values_list("user", flat=True))


def standing(case: ReviewCase, scores: Iterable[Score] | None = None) -> dict[int, list[ReviewDecision]]:
    """The decisions that stand, by score, the oldest first: of reviewers who have the part still."""
    rows = ReviewDecision.objects.filter(case=case, superseded_at=None, reviewer__in=seats(case))
    if scores is not None:
        rows = rows.filter(score__in=[score.pk for score in scores])
    found: dict[int, list[ReviewDecision]] = defaultdict(list)
    for row in rows.select_related("reviewer").order_by("given_at", "pk"):
        found[row.score_id].append(row)
    return found


def differ(decisions: Iterable[ReviewDecision]) -> bool:
    """Whether reviewers want different values: a difference, which only a discussion ends."""
    return len({(row.value, row.evidence) for row in decisions}) > 1


def settle(case: ReviewCase, scores: Iterable[Score], *, now: datetime) -> int:
    """Let those of ``scores`` stand on which all the reviewers that the study asks for agree; how many.

    All approve: the score stands as it is. All propose the same value: that one. The case is locked.
    """
    scores = list(scores)
    wanted = settings_of(case.study).reviewers
    resolved = set(Resolution.objects.filter(score__in=scores).values_list("score", flat=True))
    said = standing(case, scores)
    ready = []
    for score in scores:
        decisions = said[score.pk]
        if score.pk in resolved or len(decisions) < wanted or differ(decisions):
            continue
        approved = decisions[0].decision == ReviewDecision.Decision.APPROVE
        how = Resolution.How.UNANIMOUS if approved else Resolution.How.SAME_PROPOSAL
        ready.append((score, Scored(decisions[0].value, decisions[0].evidence), how))
    if ready:
        case.version += 1
    results = Score.objects.bulk_create(shown(score, value, now) for score, value, _how in ready)
    Resolution.objects.bulk_create(
        Resolution(case=case, score=score, result=result, how=how, version=case.version, closed_at=now)
        for (score, _value, how), result in zip(ready, results, strict=True)
    )
    return len(ready)


def shown(score: Score, given: Scored, now: datetime) -> Score:
    """The row of the layer truth-shown that a review of ``score`` ends in."""
    return Score(
        study_id=score.study_id,
        rater_id=score.rater_id,
        dialogue_id=score.dialogue_id,
        dimension_id=score.dimension_id,
        layer=Layer.TRUTH_SHOWN,
        revises=score,
        value=given.value,
        evidence=given.evidence,
        given_at=now,
    )


def follow(case: ReviewCase, *, now: datetime, user: Any = None) -> None:
    """Store the case with the state that its decisions and resolutions make. The case is locked.

    Closed is a case of which every score is resolved; new scores open it again. It stays so when none of its
    scores counts any more.
    """
    scores = keys_of(case)
    resolved = set(Resolution.objects.filter(case=case).values_list("score", flat=True))
    left = scores - resolved
    said = standing(case)
    was = case.state
    if not left and (scores or was == State.CLOSED):
        case.state = State.CLOSED
    elif any(differ(said[score]) for score in left):
        case.state = State.DISCUSSION
    elif resolved or ReviewDecision.objects.filter(case=case).exists():
        case.state = State.IN_REVIEW
    else:
        case.state = State.WAITING
    if case.state != State.CLOSED:
        case.closed_at = None
    elif was != State.CLOSED:
        case.closed_at = now
    case.save(update_fields=["state", "closed_at", "disagreement", "raters", "version"])
    if State.CLOSED in (was, case.state) and was != case.state:
        audit.record(
            "review.closed" if case.state == State.CLOSED else "review.reopened",
            study=case.study,
            user=user,
            target=case.code,
            now=now,
            scores=len(scores),
        )


def untouched_by(user: Any, study: Study, dialogues: Collection[int]) -> Q:
    """Scores on ``dialogues`` on which ``user`` has no standing decision, and whose review has not ended."""
    of = {"case__study": study, "case__dialogue__in": dialogues}
    mine = ReviewDecision.objects.filter(**of, reviewer=user, superseded_at=None)
    ended = Resolution.objects.filter(**of)
    return ~Q(pk__in=ended.values("score")) & ~Q(pk__in=mine.values("score"))

"""Expert review by its services: cases, decisions, what stands, discussion, who may, two at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction

from annotation.layers import scores_in_layer
from annotation.models import (
    AnnotationSettings,
    BatchItem,
    Layer,
    Resolution,
    ReviewCase,
    ReviewDecision,
    Score,
)
from annotation.review.access import seen_in_review
from annotation.review.disagreement import apart, disagreement, spread
from annotation.scored import Scored
from annotation.services.review_cases import refresh_cases, scores_of
from annotation.services.review_rules import Moved
from annotation.services.reviewing import agree, approve_lot, comment, decide
from annotation.tasks import sweep_reviews
from dialogues.models import Dialogue
from studies.models import AuditLine, Participant, Study
from tests import factories
from tests.annotation.reviewers import fresh, make_reviewer
from tests.factories import NOW
from turingsite.errors import Conflict, DomainError

LATER = NOW + timedelta(hours=1)
pytestmark = pytest.mark.django_db


@pytest.fixture
def study(db: None) -> Study:
    return factories.annotated_study(dialogues=2)


@pytest.fixture
def case(study: Study) -> ReviewCase:
    refresh_cases(study, NOW)
    return ReviewCase.objects.order_by("pk")[0]


@pytest.fixture
def three(study: Study) -> list[Any]:
    return [make_reviewer(study, name) for name in ("ada", "ben", "cho")]


@contextmanager
def refused(code: str) -> Iterator[None]:
    """What is in it is refused with that code."""
    with pytest.raises(DomainError) as error:
        yield
    assert error.value.code == code


def approve(case: ReviewCase, score: Score, who: Any, **more: Any) -> ReviewDecision:
    version = more.pop("version", fresh(case).version)
    return decide(
        case=case, score=score, reviewer=who, decision="approve", version=version, now=LATER, **more
    )


def propose(case: ReviewCase, score: Score, who: Any, value: int | None = 2, **more: Any) -> ReviewDecision:
    given: dict[str, Any] = {
        "value": value,
        "evidence": value is not None,
        "reason": "The pauses are cut.",
        "version": fresh(case).version,
    }
    return decide(case=case, score=score, reviewer=who, decision="propose", now=LATER, **(given | more))


# --- How far raters are apart ---


def test_disagreement_is_the_mean_squared_step_over_pairs_and_dimensions() -> None:
    five, four, three, one = (Scored(v, True) for v in (5, 4, 3, 1))
    none = Scored(3, False)
    assert apart(five, one) == 1
    assert apart(five, four) == 1 / 16
    assert apart(none, none) == 0
    assert apart(none, three) == 1 / 16  # heard and leaning nowhere is not the same as not heard
    assert apart(none, four) == 1 / 16
    assert apart(one, none) == 4 / 16
    # 5, 5, 1: two of three pairs at the poles; 4, 4: nothing; a single score can't disagree
    grid = {"rhythm": [five, five, one], "stress": [four, four], "accent": [one]}
    assert disagreement(grid) == pytest.approx((2 / 3 + 0) / 2)
    assert disagreement({}) == 0
    assert (spread([five, one, none]), spread([none, three]), spread([four])) == (4, 1, 0)


# --- Cases ---


def test_a_dialogue_gets_its_case_with_its_last_rating(study: Study) -> None:
    items = BatchItem.objects.filter(dialogue=Dialogue.objects.order_by("pk")[0])
    items.filter(pk=items[0].pk).update(state="open", finished_at=None, choice="")
    assert refresh_cases(study, NOW).made == 1
    items.update(state="finished", finished_at=NOW, choice="human")
    assert refresh_cases(study, NOW).made == 1
    assert refresh_cases(study, NOW) == (0, 0, 0, 0)


def test_a_bounded_refresh_takes_new_ratings_first_and_says_what_is_left(
    study: Study, case: ReviewCase, three: list[Any]
) -> None:
    approve(case, scores_of(case)[0], three[0])
    BatchItem.objects.filter(rater=case.raters[0]).update(exclusion="rater")  # stays so in every refresh
    Score.objects.filter(dialogue=case.dialogue, rater=case.raters[1]).update(value=1)
    for _ in range(3):
        factories.ScoreFactory(study=study)
    assert refresh_cases(study, NOW, most=1) == (1, 0, 0, 2)
    assert refresh_cases(study, NOW, most=1) == (1, 0, 0, 1)
    assert refresh_cases(study, NOW, most=2) == (1, 1, 0, 0)
    assert refresh_cases(study, NOW).left == 0


def test_imported_scores_make_a_case_and_their_imported_revision_ends_it(study: Study) -> None:
    first, second = (factories.ScoreFactory(study=study) for _ in range(2))
    for layer in (Layer.TRUTH_SHOWN, Layer.BLIND_EXPERT):
        factories.ScoreFactory(
            study=study, rater=second.rater, dialogue=second.dialogue, layer=layer, dimension=second.dimension
        )
    refresh_cases(study, NOW)
    assert ReviewCase.objects.filter(dialogue=first.dialogue).exists()
    assert not ReviewCase.objects.filter(dialogue=second.dialogue).exists()


def test_the_queue_begins_where_raters_are_farthest_apart(study: Study) -> None:
    apart_by = Dialogue.objects.order_by("pk")[1]
    rater = BatchItem.objects.order_by("pk")[0].rater
    Score.objects.filter(dialogue=apart_by, rater=rater).update(value=1)
    refresh_cases(study, NOW)
    first, second = ReviewCase.objects.order_by("-disagreement")
    assert first.dialogue == apart_by
    assert first.disagreement == pytest.approx(2 / 3 * (3 / 4) ** 2)
    assert second.disagreement == 0


def test_a_rater_set_aside_leaves_the_case_and_the_others_keep_their_numbers(
    study: Study, case: ReviewCase
) -> None:
    aside = BatchItem.objects.filter(dialogue=case.dialogue).order_by("pk")[0]
    numbers = case.raters
    BatchItem.objects.filter(pk=aside.pk).update(exclusion="rater")
    late = factories.BatchItemFactory(
        batch__annotator__participant__study=study, dialogue=case.dialogue, place=4
    )
    factories.annotate(late, 1)
    refresh_cases(study, LATER)
    assert fresh(case).raters == [*numbers, late.rater_id]
    assert {score.rater_id for score in scores_of(fresh(case))} == {*numbers[1:], late.rater_id}
    assert fresh(case).disagreement > 0


def test_an_untouched_case_goes_with_its_ratings_and_a_touched_one_stays(
    study: Study, case: ReviewCase, three: list[Any]
) -> None:
    approve(case, scores_of(case)[0], three[0])
    for item in BatchItem.objects.all():
        if item.batch.annotator.pk == BatchItem.objects.order_by("pk")[0].batch.annotator.pk:
            BatchItem.objects.filter(pk=item.pk).update(exclusion="rater")
    assert refresh_cases(study, LATER).gone == 1
    assert ReviewCase.objects.get() == case


def test_a_late_rating_opens_a_closed_case_again(study: Study, case: ReviewCase, three: list[Any]) -> None:
    for who in three:
        approve_lot(case=case, reviewer=who, version=fresh(case).version, now=LATER)
    assert fresh(case).state == "closed"
    late = factories.BatchItemFactory(
        batch__annotator__participant__study=study, dialogue=case.dialogue, place=4
    )
    factories.annotate(late)
    refresh_cases(study, LATER)
    assert (fresh(case).state, fresh(case).closed_at) == ("in_review", None)
    actions = set(AuditLine.objects.filter(target=case.code).values_list("action", flat=True))
    assert {"review.closed", "review.reopened", "review.lot_approved"} <= actions


def test_fewer_reviewers_asked_for_let_stand_what_they_approved(
    study: Study, case: ReviewCase, three: list[Any]
) -> None:
    for who in three[:2]:
        approve(case, scores_of(case)[0], who)
    assert not Resolution.objects.exists()
    AnnotationSettings.objects.update(reviewers=2)
    refresh_cases(study, LATER, whole=True)
    assert Resolution.objects.get().how == "unanimous"


# --- Decisions, and what stands ---


def test_a_score_stands_when_all_reviewers_approve(case: ReviewCase, three: list[Any]) -> None:
    score = scores_of(case)[0]
    for who in three[:2]:
        approve(case, score, who)
    assert (fresh(case).state, Resolution.objects.count()) == ("in_review", 0)
    approve(case, score, three[2])
    ended = Resolution.objects.get()
    assert (ended.how, ended.score, ended.closed_by) == ("unanimous", score, None)
    assert (ended.result.layer, ended.result.revises) == ("truth-shown", score)
    assert (ended.result.value, ended.result.evidence, ended.result.rater) == (4, True, score.rater)


def test_the_same_proposal_of_all_is_the_new_score_and_the_raw_one_is_kept(
    case: ReviewCase, three: list[Any]
) -> None:
    score = scores_of(case)[0]
    for who in three:
        propose(case, score, who, None)
    ended = Resolution.objects.get()
    assert ended.how == "same_proposal"
    assert (ended.result.value, ended.result.evidence) == (3, False)
    score.refresh_from_db()
    assert (score.value, score.evidence, score.layer) == (4, True, "raw")


def test_a_difference_is_discussed_and_closed_by_an_agreed_value(case: ReviewCase, three: list[Any]) -> None:
    score = scores_of(case)[0]
    approve(case, score, three[0])
    propose(case, score, three[1])
    assert fresh(case).state == "discussion"
    closing: dict[str, Any] = {"case": case, "score": score, "value": 3, "reason": "Half cut.", "now": LATER}
    with refused("not_in_it"):
        agree(**closing, reviewer=three[2], version=fresh(case).version)
    comment(case=case, author=three[0], dimension=score.dimension, text="They fit.", now=LATER)
    with refused("no_discussion"):  # nobody closes a difference alone
        agree(**closing, reviewer=three[0], version=fresh(case).version)
    with refused("no_words"):
        agree(**closing | {"reason": " "}, reviewer=three[1], version=fresh(case).version)
    ended = agree(**closing, reviewer=three[1], version=fresh(case).version)
    assert (ended.how, ended.closed_by, ended.reason) == ("agreed", three[1], "Half cut.")
    assert (ended.result.value, fresh(case).state) == (3, "in_review")
    with refused("resolved"):
        approve(case, score, three[2])
    with refused("resolved"):
        agree(**closing, reviewer=three[1], version=fresh(case).version)


@pytest.mark.parametrize("proposes", [False, True])
def test_who_lost_the_part_counts_neither_for_nor_against_until_they_have_it_again(
    case: ReviewCase, three: list[Any], proposes: bool
) -> None:
    score = scores_of(case)[0]
    (propose if proposes else approve)(case, score, three[0])
    approve(case, score, three[1])
    part = case.study.members.get(user=three[0])
    part.delete()
    approve(case, score, three[2])
    assert (fresh(case).state, Resolution.objects.count()) == ("in_review", 0)
    approve(case, score, make_reviewer(case.study, "dan"))
    ended = Resolution.objects.get()
    assert (ended.how, ended.result.value) == ("unanimous", score.value)
    assert ReviewDecision.objects.filter(reviewer=three[0], superseded_at=None).exists()


def test_where_nobody_differs_nothing_is_agreed(case: ReviewCase, three: list[Any]) -> None:
    score = scores_of(case)[0]
    propose(case, score, three[0])
    comment(case=case, author=three[1], text="Yes.", now=LATER)
    with refused("no_difference"):
        agree(case=case, score=score, reviewer=three[0], value=2, reason="So.", version=1, now=LATER)


def test_a_changed_mind_is_kept_and_ends_the_difference(case: ReviewCase, three: list[Any]) -> None:
    score = scores_of(case)[0]
    for who in three[:2]:
        approve(case, score, who)
    propose(case, score, three[2])
    assert fresh(case).state == "discussion"
    approve(case, score, three[2])
    assert Resolution.objects.get().how == "unanimous"
    kept = list(
        ReviewDecision.objects.filter(reviewer=three[2])
        .order_by("pk")
        .values_list("decision", "value", "superseded_at")
    )
    assert kept == [("propose", 2, LATER), ("approve", 4, None)]


def test_the_same_decision_twice_is_one(case: ReviewCase, three: list[Any]) -> None:
    score = scores_of(case)[0]
    assert approve(case, score, three[0]) == approve(case, score, three[0], version=0)
    assert fresh(case).version == 1


def test_a_lot_takes_what_is_undecided_and_closes_the_case(case: ReviewCase, three: list[Any]) -> None:
    score = scores_of(case)[0]
    propose(case, score, three[0])
    rhythm = score.dimension
    assert approve_lot(case=case, reviewer=three[0], dimension=rhythm, version=1, now=LATER) == 2
    assert approve_lot(case=case, reviewer=three[0], version=2, now=LATER) == 51
    assert approve_lot(case=case, reviewer=three[0], version=3, now=LATER) == 0
    assert ReviewDecision.objects.get(score=score).decision == "propose"
    for who in three[1:]:
        approve_lot(case=case, reviewer=who, version=fresh(case).version, now=LATER)
    assert (fresh(case).state, Resolution.objects.count()) == ("discussion", 53)
    approve(case, score, three[0])
    closed = fresh(case)
    assert (closed.state, closed.closed_at) == ("closed", LATER)
    assert scores_in_layer(case.study, Layer.TRUTH_SHOWN).count() == 54
    for act in (
        lambda: approve(case, score, three[0]),
        lambda: comment(case=case, author=three[0], text="Late.", now=LATER),
        lambda: approve_lot(case=case, reviewer=three[1], version=closed.version, now=LATER),
    ):
        with refused("closed"):
            act()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"value": 6}, "bad_score"),
        ({"value": 0}, "bad_score"),
        ({"value": None, "evidence": True}, "bad_score"),
        ({"value": 4}, "same_score"),
        ({"reason": " "}, "no_words"),
        ({"reason": "x" * 2001}, "too_long"),
        ({"version": 7}, "bad_version"),
    ],
)
def test_what_cannot_be_is_refused(case: ReviewCase, three: list[Any], given: Any, code: str) -> None:
    with refused(code):
        propose(case, scores_of(case)[0], three[0], **({"value": 2} | given))
    assert not ReviewDecision.objects.exists()


def test_a_score_of_another_case_or_one_that_does_not_count_is_refused(
    case: ReviewCase, three: list[Any]
) -> None:
    other = Score.objects.exclude(dialogue=case.dialogue)[0]
    expert = factories.ScoreFactory(study=case.study, dialogue=case.dialogue, layer=Layer.BLIND_EXPERT)
    for score in (other, expert):
        with refused("not_of_case"):
            approve(case, score, three[0])


@pytest.mark.both
def test_the_database_wants_a_reason_for_a_proposal_and_one_standing_decision(
    case: ReviewCase, three: list[Any]
) -> None:
    row: dict[str, Any] = {"case": case, "score": scores_of(case)[0], "reviewer": three[0], "given_at": NOW}
    with pytest.raises(IntegrityError), transaction.atomic():
        ReviewDecision.objects.create(**row, decision="propose", value=2)
    ReviewDecision.objects.create(**row, decision="approve", value=4)
    with pytest.raises(IntegrityError), transaction.atomic():
        ReviewDecision.objects.create(**row, decision="approve", value=4)


# --- Who may ---


def test_whoever_rated_the_dialogue_may_not_review_it(case: ReviewCase, three: list[Any]) -> None:
    score = scores_of(case)[0]
    Participant.objects.filter(rater=score.rater).update(user=three[0])
    for act in (
        lambda: approve(case, score, three[0]),
        lambda: approve_lot(case=case, reviewer=three[0], version=0, now=LATER),
        lambda: comment(case=case, author=three[0], text="Mine.", now=LATER),
    ):
        with refused("rated_it"):
            act()


@pytest.mark.parametrize("role", ["researcher", "colleague", "operator", "nobody"])
def test_only_reviewers_of_the_study_decide(case: ReviewCase, role: str) -> None:
    user = factories.UserFactory(is_staff=True, is_superuser=role == "operator")
    if role in ("researcher", "colleague"):
        factories.StudyMemberFactory(study=case.study, user=user, role=role)
    elsewhere = factories.StudyMemberFactory(user=user, role="reviewer")
    assert elsewhere.study != case.study
    with refused("not_reviewer"):
        approve(case, scores_of(case)[0], user)


def test_a_fourth_reviewer_is_refused_until_one_of_three_has_left(case: ReviewCase, three: list[Any]) -> None:
    fourth = make_reviewer(case.study, "dee")
    score, other = scores_of(case)[:2]
    for who in three:
        approve(case, score, who)
    with refused("enough"):
        approve(case, other, fourth)
    three[0].memberships.all().delete()
    approve(case, other, fourth)


def test_a_reviewer_who_saw_the_case_is_known(case: ReviewCase, three: list[Any]) -> None:
    approve(case, scores_of(case)[0], three[0])
    assert list(seen_in_review(three[0])) == [case.dialogue]
    assert not seen_in_review(three[1]).exists()


# --- Two at once ---


def test_a_stale_page_meets_what_the_other_decided(case: ReviewCase, three: list[Any]) -> None:
    score, other = scores_of(case)[:2]
    propose(case, score, three[0], version=0)
    approve(case, other, three[1], version=0)  # of another score: no conflict
    with pytest.raises(Moved) as met:
        approve(case, score, three[1], version=0)
    assert [(row.reviewer, row.value) for row in met.value.decisions] == [(three[0], 2)]
    assert not ReviewDecision.objects.filter(score=score, reviewer=three[1]).exists()
    with pytest.raises(Moved):
        approve_lot(case=case, reviewer=three[1], version=0, now=LATER)
    approve(case, score, three[1])  # having seen it
    assert fresh(case).state == "discussion"


def test_agreeing_on_what_changed_meanwhile_is_a_conflict(case: ReviewCase, three: list[Any]) -> None:
    score = scores_of(case)[0]
    approve(case, score, three[0])
    propose(case, score, three[1])
    comment(case=case, author=three[1], text="Cut.", now=LATER)
    seen = fresh(case).version
    propose(case, score, three[1], 1)
    with pytest.raises(Moved):
        agree(case=case, score=score, reviewer=three[0], value=2, reason="As said.", version=seen, now=LATER)


def at_once(acts: list[Callable[[], Any]]) -> list[Any]:
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        try:
            barrier.wait(timeout=30)
            return act()
        except DomainError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("repeat", range(3))
def test_two_reviewers_at_the_same_instant_are_told_of_each_other(
    case: ReviewCase, three: list[Any], repeat: int
) -> None:
    score = scores_of(case)[0]
    got = at_once(
        [
            lambda: propose(case, score, three[0], 2, version=0),
            lambda: approve(case, score, three[1], version=0),
        ]
    )
    assert sorted(isinstance(one, Moved) for one in got) == [False, True]
    assert ReviewDecision.objects.count() == 1


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_three_lots_at_once_close_the_case_and_every_score_stands_once(
    case: ReviewCase, three: list[Any]
) -> None:
    fourth = make_reviewer(case.study, "dee")
    got = at_once(
        [
            lambda who=who: approve_lot(case=case, reviewer=who, version=0, now=LATER)  # type: ignore[misc]
            for who in (*three, fourth)
        ]
    )
    assert sorted(one if isinstance(one, int) else 0 for one in got) == [0, 54, 54, 54]
    assert [one.code for one in got if isinstance(one, Conflict)] in (["closed"], ["enough"])
    assert (Resolution.objects.count(), fresh(case).state) == (54, "closed")


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_queues_opened_at_once_make_each_case_once(study: Study) -> None:
    at_once([lambda: refresh_cases(study, NOW)] * 6)
    assert ReviewCase.objects.count() == 2
    assert all(len(case.raters) == 3 for case in ReviewCase.objects.all())


@pytest.mark.both
def test_a_withdrawn_recording_leaves_the_review_and_what_was_closed_stays_closed(
    study: Study, case: ReviewCase, three: list[Any]
) -> None:
    for who in three:
        approve_lot(case=case, reviewer=who, version=fresh(case).version, now=LATER)
    Dialogue.objects.filter(study_items__study=study).update(state=Dialogue.State.WITHDRAWN)
    sweep_reviews()
    assert list(ReviewCase.objects.values_list("pk", "state")) == [(case.pk, "closed")]
    assert not AuditLine.objects.filter(action="review.reopened").exists()
    assert ReviewDecision.objects.count() == 3 * 54


# --- Layers ---


def test_layers_hold_what_counts_and_nothing_else(study: Study, case: ReviewCase, three: list[Any]) -> None:
    assert scores_in_layer(study, Layer.RAW).count() == 2 * 3 * 18
    for who in three:
        approve_lot(case=case, reviewer=who, version=fresh(case).version, now=LATER)
    assert scores_in_layer(study, Layer.TRUTH_SHOWN).count() == 54
    item = BatchItem.objects.filter(dialogue=case.dialogue).order_by("pk")[0]
    BatchItem.objects.filter(pk=item.pk).update(exclusion="rater")
    assert scores_in_layer(study, Layer.RAW).count() == 5 * 18
    assert scores_in_layer(study, Layer.TRUTH_SHOWN).count() == 2 * 18  # nor what was made of them
    batch = item.batch
    for purpose, repeat in (("repeat", 1), ("gold", 0), ("calibration", 0)):
        dialogue = case.dialogue if repeat else factories.DialogueFactory()
        more: dict[str, Any] = {} if not repeat else {"exposure": item.exposure}
        factories.annotate(
            factories.BatchItemFactory(batch=batch, dialogue=dialogue, purpose=purpose, repeat=repeat, **more)
        )
    expert = factories.BatchItemFactory(
        batch__annotator__participant__study=study, dialogue=case.dialogue, layer=Layer.BLIND_EXPERT
    )
    factories.annotate(expert)
    for exclusion in ("", "pilot"):
        factories.ScoreFactory(study=study, exclusion=exclusion)
    assert scores_in_layer(study, Layer.RAW).count() == 5 * 18 + 1
    assert scores_in_layer(study, Layer.BLIND_EXPERT).count() == 18


def test_the_clock_brings_cases_up_to_date(study: Study) -> None:
    sweep_reviews()
    assert ReviewCase.objects.count() == 2
    item = BatchItem.objects.order_by("pk")[0]
    Score.objects.filter(item=item).update(value=1)
    sweep_reviews()
    assert ReviewCase.objects.get(dialogue=item.dialogue).disagreement > 0

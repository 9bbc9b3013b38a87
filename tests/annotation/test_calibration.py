"""Calibration: figures by hand, gates at their limits, fresh dialogues for every try, what runs out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from annotation.choosing import Material, chosen, share_against
from annotation.models import AnnotationSettings, Annotator, Attempt, Batch, BatchItem, Score
from annotation.services.annotators import annotator_of
from annotation.services.calibration import (
    calibration_batch,
    conclude,
    is_out_of_material,
    standing,
)
from annotation.services.calibration_figures import running_figures
from annotation.services.material import tries_by_language
from annotation.services.quality import another_try
from annotation.services.taxonomies import default_taxonomy
from dialogues.models import Dialogue, Exposure, Kind, Recording, Speaker, StudyItem
from studies.assignment import seeded
from studies.models import EndState, Participant, Study
from tests import factories
from tests.factories import NOW
from tests.studies.test_at_once import at_once

pytestmark = [pytest.mark.both, pytest.mark.django_db]

RHYTHM, STRESS, ACCENT = "rhythm", "stress", "accent"
State = Annotator.State


def calibrating(*, references: int = 10, known: Any = 4, **fields: Any) -> tuple[Study, AnnotationSettings]:
    study = factories.StudyFactory(slug="calibrate", languages=["en"], activities=["annotation"])
    values = {"calibration": True, "calibration_dialogues": 4, "batch_size": 2} | fields
    settings = factories.AnnotationSettingsFactory(study=study, **values)
    for n in range(references):
        kind = (Kind.HUMAN_HUMAN, Kind.PSEUDO_HUMAN)[n % 2]
        factories.known_dialogue(study, known, kind=kind)
    return study, settings


def someone(study: Study, **fields: Any) -> Annotator:
    participant = factories.ParticipantFactory(study=study, **fields)
    annotator = annotator_of(participant, NOW)
    Annotator.objects.filter(pk=annotator.pk).update(state=State.CALIBRATING)
    annotator.refresh_from_db()
    return annotator


def score(item: BatchItem, values: dict[str, int | None], choice: str = "human") -> None:
    """Finish ``item`` with these scores alone; None is no evidence."""
    for key, value in values.items():
        Score.objects.create(
            study=item.study,
            rater=item.rater,
            dialogue=item.dialogue,
            dimension=default_taxonomy().dimensions.get(key=key),
            layer=item.layer,
            item=item,
            value=value or 3,
            evidence=value is not None,
            given_at=NOW,
        )
    item.choice, item.state, item.finished_at = choice, BatchItem.State.FINISHED, NOW
    item.save()


def finish(batch: Batch, values: dict[str, int | None], choice: str = "human") -> Attempt | None:
    for item in batch.items.filter(state=BatchItem.State.OPEN):
        score(item, values, choice)
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.FINISHED, finished_at=NOW)
    batch.refresh_from_db()
    return conclude(batch, NOW)


def whole_attempt(
    annotator: Annotator, settings: AnnotationSettings, values: dict[str, int | None]
) -> Attempt:
    for _ in range(20):
        batch = calibration_batch(annotator, settings, NOW)
        assert batch is not None
        attempt = finish(batch, values)
        assert attempt is not None
        if attempt.state != Attempt.State.RUNNING:
            return attempt
    raise AssertionError("never ended")


# Which dialogues


def test_a_batch_brings_fresh_known_dialogues_in_the_persons_language() -> None:
    study, settings = calibrating(references=6)
    factories.known_dialogue(study, language="zh")
    factories.known_dialogue(study, role="gold")
    annotator = someone(study)
    batch = calibration_batch(annotator, settings, NOW)
    assert batch is not None
    items = list(batch.items.all())
    assert [item.position for item in items] == [1, 2]
    assert {item.purpose for item in items} == {"calibration"}
    assert {item.dialogue.language for item in items} == {"en"}
    assert all(item.place is None and item.exposure.rater_id == item.rater_id for item in items)
    assert batch.lease_until == NOW + timedelta(minutes=settings.lease_minutes)
    assert batch.attempt is not None
    assert batch.attempt.number == 1
    assert calibration_batch(annotator, settings, NOW) == batch  # asked again, the same


def test_nothing_heard_before_comes_and_nothing_comes_twice() -> None:
    study, settings = calibrating(references=9)
    annotator = someone(study)
    rater = annotator.participant.rater
    heard = study.reference_dialogues.all()[0].dialogue
    factories.ExposureFactory(rater=rater, dialogue=heard)
    whole_attempt(annotator, settings, {RHYTHM: 1})
    whole_attempt(annotator, settings, {RHYTHM: 1})
    given = list(BatchItem.objects.filter(rater=rater).values_list("dialogue", flat=True))
    assert len(given) == len(set(given)) == 8
    assert heard.pk not in given
    assert Exposure.objects.filter(rater=rater).count() == 9


@pytest.mark.parametrize("hinder", ["retired", "out of play", "not ready", "withdrawn voice", "may not play"])
def test_what_may_not_be_played_is_no_material(hinder: str) -> None:
    study, settings = calibrating(references=4)
    reference = study.reference_dialogues.all()[0]
    dialogue = reference.dialogue
    if hinder == "retired":
        study.reference_dialogues.filter(pk=reference.pk).update(is_active=False)
    elif hinder == "out of play":
        StudyItem.objects.filter(study=study, dialogue=dialogue).update(is_active=False)
    elif hinder == "not ready":
        Dialogue.objects.filter(pk=dialogue.pk).update(state="failed")
    elif hinder == "withdrawn voice":
        Speaker.objects.filter(parties__dialogue=dialogue, parties__label="A").update(withdrawn_at=NOW)
    else:
        Recording.objects.filter(dialogues=dialogue).update(may_play=False)
    assert tries_by_language(settings)["en"] == (3, 0)
    assert calibration_batch(someone(study), settings, NOW) is None


def test_people_get_different_dialogues_and_the_same_person_always_the_same() -> None:
    study, settings = calibrating(references=40)
    sets = []
    for _ in range(6):
        batch = calibration_batch(someone(study), settings, NOW)
        assert batch is not None
        sets.append(frozenset(batch.items.values_list("dialogue", flat=True)))
    assert len(set(sets)) > 1
    pool = [Material(n, 4, n % 3) for n in range(30)]
    first, again = (chosen(pool, 10, target=0.25, rng=seeded(7, "x")) for _ in range(2))
    assert first == again


def test_a_quarter_of_the_clear_scores_points_against_the_truth() -> None:
    # 18 clear scores each; of one dialogue in eight all point against the truth. A plain sample of ten has
    # about .125 of them; .25 can't be had in tenths, .2 and .3 are equally near.
    pool = [Material(n, 18, 18 if n % 8 == 0 else 0) for n in range(80)]
    for seed in range(20):
        share = share_against(chosen(pool, 10, target=0.25, rng=seeded(seed)))
        assert share == pytest.approx(0.2) or share == pytest.approx(0.3)
    mixed = [Material(n, 10, n % 10) for n in range(50)]
    for seed in range(20):
        assert share_against(chosen(mixed, 10, target=0.25, rng=seeded(seed))) == pytest.approx(0.25)


def test_what_is_already_finished_counts_towards_the_quarter() -> None:
    pool = [Material(n, 10, 10 if n < 20 else 0) for n in range(40)]
    taken = [Material(100 + n, 10, 10) for n in range(2)]
    rest = chosen(pool, 6, target=0.25, rng=seeded(1), taken=taken)
    assert share_against(rest) == 0.0
    assert share_against([*rest, *taken]) == 0.25


def test_the_share_against_the_truth_is_recorded_with_the_attempt() -> None:
    # Humans with clear machine-like scores contradict the truth: half of the dialogues, and all their scores.
    study, settings = calibrating(references=0, calibration_against=0.5)
    for n in range(8):
        human, low = n % 2 == 0, n < 4
        kind = Kind.HUMAN_HUMAN if human else Kind.PSEUDO_HUMAN
        factories.known_dialogue(study, {RHYTHM: 1 if low else 5, ACCENT: None, STRESS: 3}, kind=kind)
    annotator = someone(study)
    attempt = whole_attempt(annotator, settings, {RHYTHM: 4})
    assert attempt.against == 0.5
    draw = BatchItem.objects.filter(batch__attempt=attempt)[0].draw
    assert (draw["target"], draw["against"], draw["of"]) == (0.5, 0.5, 8)


# Figures and gate


def test_the_figures_of_an_attempt_are_those_worked_by_hand() -> None:
    # Known: rhythm 5, stress 2, accent no evidence. Given: rhythm 4 (1 off, right side), stress 3 (1 off, on
    # neither side), accent 1 (not compared). Four dialogues: 8 compared, mean 1; 8 clear, half of them right.
    study, settings = calibrating(references=4, known={RHYTHM: 5, STRESS: 2, ACCENT: None})
    annotator = someone(study)
    attempt = whole_attempt(annotator, settings, {RHYTHM: 4, STRESS: 3, ACCENT: 1})
    assert (attempt.dialogues, attempt.compared, attempt.mean_difference) == (4, 8, 1.0)
    assert (attempt.clear, attempt.clear_share) == (8, 0.5)
    assert attempt.against == 0.5  # stress of the two humans, rhythm of the two machines
    assert attempt.choices_right == 2  # "human" for all, two are
    assert attempt.ended_at == NOW


def test_no_evidence_is_left_out_of_the_mean_and_is_not_on_the_right_side() -> None:
    study, settings = calibrating(references=4, known={RHYTHM: 5, STRESS: 4})
    attempt = whole_attempt(someone(study), settings, {RHYTHM: None, STRESS: 4})
    assert (attempt.compared, attempt.mean_difference) == (4, 0.0)
    assert (attempt.clear, attempt.clear_share) == (8, 0.5)


def test_a_dimension_left_out_counts_like_no_evidence() -> None:
    study, settings = calibrating(references=4, known={RHYTHM: 5, STRESS: 4})
    attempt = whole_attempt(someone(study), settings, {STRESS: 4})
    assert (attempt.compared, attempt.clear_share) == (4, 0.5)


@pytest.mark.parametrize(
    ("limits", "passes"),
    [
        ({"calibration_difference": 1.0, "calibration_clear": 0.5}, True),  # both exactly at their limits
        ({"calibration_difference": 0.99, "calibration_clear": 0.5}, False),
        ({"calibration_difference": 1.0, "calibration_clear": 0.51}, False),
        ({"calibration_difference": 4.0, "calibration_clear": 0.0}, True),
    ],
)
def test_the_gate_includes_its_limits(limits: dict[str, float], passes: bool) -> None:
    study, settings = calibrating(references=4, known={RHYTHM: 5, STRESS: 2}, **limits)
    annotator = someone(study)
    attempt = whole_attempt(annotator, settings, {RHYTHM: 4, STRESS: 3})
    assert (attempt.mean_difference, attempt.clear_share) == (1.0, 0.5)
    assert (attempt.state == Attempt.State.PASSED) is passes
    annotator.refresh_from_db()
    assert annotator.state == (State.WORKING if passes else State.CALIBRATING)
    assert (annotator.passed_at == NOW) is passes


def test_three_of_five_on_the_right_side_reach_six_tenths() -> None:
    # .6 is no binary fraction; 3 of 5 must reach it all the same.
    known = {RHYTHM: 5, STRESS: 5, ACCENT: 5, "intonation": 5, "fillers": 5}
    study, settings = calibrating(references=4, known=known)
    given: dict[str, int | None] = {RHYTHM: 5, STRESS: 5, ACCENT: 5, "intonation": 3, "fillers": 3}
    attempt = whole_attempt(someone(study), settings, given)
    assert attempt.clear_share == 0.6
    assert attempt.mean_difference == 0.8
    assert attempt.state == Attempt.State.PASSED


def test_wrong_choices_do_not_keep_anybody_from_passing() -> None:
    study, settings = calibrating(references=0)
    for _ in range(4):
        factories.known_dialogue(study, {RHYTHM: 5}, kind=Kind.HUMAN_HUMAN)
    annotator = someone(study)
    for _ in range(2):
        batch = calibration_batch(annotator, settings, NOW)
        assert batch is not None
        attempt = finish(batch, {RHYTHM: 5}, choice="machine")
    assert attempt is not None
    assert (attempt.choices_right, attempt.state) == (0, Attempt.State.PASSED)


def test_without_a_single_score_to_compare_nobody_passes() -> None:
    study, settings = calibrating(references=4, known={RHYTHM: 3})
    attempt = whole_attempt(someone(study), settings, {RHYTHM: None})
    assert (attempt.mean_difference, attempt.clear_share) == (None, None)
    assert attempt.state == Attempt.State.FAILED


# Attempts


def test_an_attempt_ends_with_its_dialogues_not_with_a_batch() -> None:
    study, settings = calibrating(references=5, known={RHYTHM: 4}, calibration_dialogues=5)
    annotator = someone(study)
    sizes = []
    for _ in range(3):
        batch = calibration_batch(annotator, settings, NOW)
        assert batch is not None
        sizes.append(batch.items.count())
        attempt = finish(batch, {RHYTHM: 4})
    assert sizes == [2, 2, 1]
    assert attempt is not None
    assert (attempt.state, attempt.dialogues) == (Attempt.State.PASSED, 5)


def test_a_skipped_dialogue_is_made_up_for() -> None:
    study, settings = calibrating(references=6)
    annotator = someone(study)
    batch = calibration_batch(annotator, settings, NOW)
    assert batch is not None
    skipped = batch.items.all()[0]
    BatchItem.objects.filter(pk=skipped.pk).update(state=BatchItem.State.SKIPPED, known=True)
    finish(batch, {RHYTHM: 4})
    attempt = whole_attempt(annotator, settings, {RHYTHM: 4})
    assert attempt.dialogues == 4
    assert attempt.batches.count() == 3
    assert BatchItem.objects.filter(batch__attempt=attempt).count() == 5


def test_running_figures_are_over_what_is_finished() -> None:
    study, settings = calibrating(references=4, known={RHYTHM: 5})
    annotator = someone(study)
    batch = calibration_batch(annotator, settings, NOW)
    assert batch is not None
    attempt = finish(batch, {RHYTHM: 3})
    assert attempt is not None
    assert (attempt.state, attempt.mean_difference) == (Attempt.State.RUNNING, None)
    running = running_figures(attempt)
    assert (running.dialogues, running.mean_difference, running.clear_share) == (2, 2.0, 0.0)
    now_at = standing(annotator, settings)
    assert (now_at.name, now_at.done, now_at.needed) == ("begun", 2, 4)


def test_concluding_twice_changes_nothing() -> None:
    study, settings = calibrating(references=8)
    annotator = someone(study)
    attempt = whole_attempt(annotator, settings, {RHYTHM: 1})
    batch = attempt.batches.last()
    assert batch is not None
    conclude(batch, NOW + timedelta(days=1))
    attempt.refresh_from_db()
    assert attempt.ended_at == NOW
    assert annotator.attempts.count() == 1


def test_tries_are_counted_and_the_last_one_ends_the_participation_with_its_pay() -> None:
    study, settings = calibrating(references=20, calibration_tries=2)
    annotator = someone(study)
    first = whole_attempt(annotator, settings, {RHYTHM: 1})
    assert standing(annotator, settings)[:3] == ("ready", 2, 2)
    second = whole_attempt(annotator, settings, {RHYTHM: 1})
    assert (first.number, second.number) == (1, 2)
    annotator.refresh_from_db()
    participant = Participant.objects.get(pk=annotator.participant_id)
    assert annotator.state == State.FAILED
    assert participant.end_state == EndState.FAILED_CHECK
    assert standing(annotator, settings).name == "failed"
    assert calibration_batch(annotator, settings, NOW) is None


def test_a_further_try_from_the_desk_is_one_more_and_the_last() -> None:
    study, settings = calibrating(references=20, calibration_tries=1)
    annotator = someone(study)
    whole_attempt(annotator, settings, {RHYTHM: 1})
    another_try(annotator=annotator)
    annotator.refresh_from_db()
    assert standing(annotator, settings)[:3] == ("ready", 2, 2)
    whole_attempt(annotator, settings, {RHYTHM: 1})
    annotator.refresh_from_db()
    assert annotator.state == State.FAILED
    assert Participant.objects.get(pk=annotator.participant_id).end_state == EndState.FAILED_CHECK


def test_what_the_persons_account_met_in_another_study_does_not_come() -> None:
    study, settings = calibrating(references=4)
    user = factories.UserFactory()
    elsewhere = factories.ParticipantFactory(user=user)
    factories.ExposureFactory(rater=elsewhere.rater, dialogue=study.reference_dialogues.all()[0].dialogue)
    assert calibration_batch(someone(study, user=user), settings, NOW) is None
    assert calibration_batch(someone(study), settings, NOW) is not None


@pytest.mark.django_db(transaction=True)
def test_tabs_that_start_at_the_same_moment_get_one_batch() -> None:
    study, settings = calibrating(references=8)
    annotator = someone(study)

    def start() -> Batch | None:
        return calibration_batch(Annotator.objects.get(pk=annotator.pk), settings, NOW)

    batches = at_once(*[start] * 6)
    assert len({batch.pk for batch in batches}) == 1
    assert Batch.objects.count() == Attempt.objects.count() == 1
    assert BatchItem.objects.count() == settings.batch_size


def test_whoever_does_other_things_in_the_study_goes_on_with_those() -> None:
    study, settings = calibrating(references=4, calibration_tries=1)
    Study.objects.filter(pk=study.pk).update(activities=["annotation", "speech"])
    study.refresh_from_db()
    annotator = someone(study)
    whole_attempt(annotator, settings, {RHYTHM: 1})
    annotator.refresh_from_db()
    assert annotator.state == State.FAILED
    assert Participant.objects.get(pk=annotator.participant_id).end_state == ""


def test_material_that_runs_out_is_the_studys_doing() -> None:
    study, settings = calibrating(references=7)
    annotator = someone(study)
    whole_attempt(annotator, settings, {RHYTHM: 1})
    assert calibration_batch(annotator, settings, NOW) is None  # three are left, four are needed
    annotator.refresh_from_db()
    assert annotator.state == State.CALIBRATING
    assert is_out_of_material(annotator, settings)
    assert standing(annotator, settings).name == "no_material"
    factories.known_dialogue(study)
    assert not is_out_of_material(annotator, settings)
    assert calibration_batch(annotator, settings, NOW) is not None


def test_no_batch_before_the_guidelines_and_none_after_passing() -> None:
    study, settings = calibrating(references=8)
    annotator = someone(study)
    for state in (State.READING, State.WORKING, State.FAILED):
        Annotator.objects.filter(pk=annotator.pk).update(state=state)
        assert calibration_batch(annotator, settings, NOW) is None


def test_the_taxonomy_is_frozen_with_the_first_batch() -> None:
    study, settings = calibrating(references=4)
    assert settings.taxonomy.frozen_at is None
    calibration_batch(someone(study), settings, NOW)
    settings.taxonomy.refresh_from_db()
    assert settings.taxonomy.frozen_at == NOW


# The row itself


def test_orders_are_drawn_for_a_person_and_kept() -> None:
    study, _settings = calibrating(references=0)
    annotators = [annotator_of(factories.ParticipantFactory(study=study), NOW) for _ in range(12)]
    keys = sorted(default_taxonomy().categories.values_list("key", flat=True))
    assert all(sorted(one.category_order) == keys for one in annotators)
    assert len({tuple(one.category_order) for one in annotators}) > 1
    assert len({one.human_left for one in annotators}) == 2
    again = annotator_of(annotators[0].participant, NOW + timedelta(days=1))
    assert (again.pk, again.category_order, again.joined_at) == (
        annotators[0].pk,
        annotators[0].category_order,
        NOW,
    )


def test_material_is_counted_by_language() -> None:
    study, settings = calibrating(references=9)
    Study.objects.filter(pk=study.pk).update(languages=["en", "zh"])
    settings.study.refresh_from_db()
    assert tries_by_language(settings) == {"en": (9, 2), "zh": (0, 0)}

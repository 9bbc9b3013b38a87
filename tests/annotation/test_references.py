"""Reference sets from reviewed dialogues: what becomes known, what is refused, and who is given it then."""

from __future__ import annotations

import pytest

from annotation.models import BatchItem, Layer, ReferenceDialogue, ReferenceScore, ReviewCase, Score
from annotation.services.references import (
    activate,
    add_reference_scores,
    consensus,
    make_reference,
    retire,
)
from annotation.services.taxonomies import default_taxonomy
from dialogues.models import Dialogue
from studies.models import AuditLine, Study
from tests import factories
from tests.factories import NOW
from turingsite.errors import Conflict, Invalid, NotFound

pytestmark = [pytest.mark.both, pytest.mark.django_db]

Role = ReferenceDialogue.Role
RHYTHM, STRESS, ACCENT = "rhythm", "stress", "accent"


def reviewed(study: Study, revised: dict[str, list[int | None]], *, closed: bool = True) -> Dialogue:
    """A dialogue scored by as many raters as there are values, each score revised to one of them."""
    dialogue = factories.add_dialogue(study)
    raters = max(len(values) for values in revised.values())
    for n in range(raters):
        annotator = factories.AnnotatorFactory(participant=factories.ParticipantFactory(study=study))
        batch = factories.BatchFactory(annotator=annotator, state="finished", finished_at=NOW)
        item = factories.annotate(factories.BatchItemFactory(batch=batch, dialogue=dialogue), 3)
        for key, values in revised.items():
            raw = item.scores.get(dimension__key=key)
            Score.objects.create(
                study=study,
                rater=raw.rater,
                dialogue=dialogue,
                dimension=raw.dimension,
                layer=Layer.TRUTH_SHOWN,
                revises=raw,
                value=values[n] or 3,
                evidence=values[n] is not None,
                given_at=NOW,
            )
    state = ReviewCase.State.CLOSED if closed else ReviewCase.State.IN_REVIEW
    ReviewCase.objects.create(
        study=study, dialogue=dialogue, state=state, made_at=NOW, closed_at=NOW if closed else None
    )
    return dialogue


@pytest.fixture
def study() -> Study:
    made: Study = factories.StudyFactory(slug="known", languages=["en"], activities=["annotation"])
    factories.AnnotationSettingsFactory(study=made)
    return made


def known(reference: ReferenceDialogue) -> dict[str, int | None]:
    rows = ReferenceScore.objects.filter(reference=reference).values_list(
        "dimension__key", "value", "evidence"
    )
    return {key: value if evidence else None for key, value, evidence in rows}


@pytest.mark.parametrize(
    ("given", "agreed"),
    [
        ([4, 5, 5], 5),
        ([1, 3, 5], 3),
        ([2, 2, 4], 2),
        ([4, 5], 4),  # between two steps the one nearer to the middle
        ([3, 4], 3),
        ([2, 3], 3),
        ([1, 2], 2),
        ([2, 5], 3),
        ([1, 5], 3),
        ([5], 5),
        ([None, None, 5], None),  # evidence is what more than half heard
        ([None, 5, 4], 4),
        ([None, 5], None),
        ([None], None),
        ([], None),
    ],
)
def test_what_several_scores_come_to(given: list[int | None], agreed: int | None) -> None:
    assert consensus(given) == agreed


def test_the_revised_scores_of_the_raters_become_known(study: Study, cast) -> None:
    dialogue = reviewed(study, {RHYTHM: [5, 4, 5], STRESS: [1, 1, 3], ACCENT: [None, 4, None]})
    made = make_reference(
        study=study, dialogues=[dialogue], role=Role.CALIBRATION, user=cast.researcher, now=NOW
    )
    assert made.refused == {}
    reference = ReferenceDialogue.objects.get()
    assert made.references == [reference]
    assert known(reference) == {RHYTHM: 5, STRESS: 1, ACCENT: None}
    assert (reference.role, reference.source, reference.added_by) == (
        "calibration",
        "review",
        cast.researcher,
    )
    assert reference.added_at == NOW
    line = AuditLine.objects.get(action="reference.made")
    assert (line.target, line.detail["role"]) == (dialogue.code, "calibration")


def test_scores_that_are_not_analysed_say_nothing(study: Study) -> None:
    dialogue = reviewed(study, {RHYTHM: [5, 1, 1]})
    first = BatchItem.objects.filter(dialogue=dialogue).order_by("pk")[1:]
    BatchItem.objects.filter(pk__in=[item.pk for item in first]).update(exclusion="rater")
    made = make_reference(study=study, dialogues=[dialogue], role=Role.GOLD)
    assert known(made.references[0]) == {RHYTHM: 5}


def test_what_cannot_be_used_is_left_out_with_its_reason_and_the_rest_is_made(study: Study) -> None:
    good = reviewed(study, {RHYTHM: [4, 4, 4]})
    still_open = reviewed(study, {RHYTHM: [4, 4, 4]}, closed=False)
    unreviewed = factories.add_dialogue(study)
    elsewhere = reviewed(factories.annotated_study("elsewhere", dialogues=1), {RHYTHM: [4]})
    busy = reviewed(study, {RHYTHM: [4, 4, 4]})
    factories.BatchItemFactory(
        batch__annotator__participant=factories.ParticipantFactory(study=study), dialogue=busy
    )
    empty = factories.add_dialogue(study)
    ReviewCase.objects.create(
        study=study, dialogue=empty, state=ReviewCase.State.CLOSED, made_at=NOW, closed_at=NOW
    )
    all_of_them = [good, still_open, unreviewed, elsewhere, busy, empty, good]
    made = make_reference(study=study, dialogues=all_of_them, role=Role.CALIBRATION)
    assert [one.dialogue for one in made.references] == [good]
    assert made.refused == {
        still_open.code: "Its review is not closed yet.",
        unreviewed.code: "Its review is not closed yet.",
        elsewhere.code: "Its review is not closed yet.",
        busy.code: "Somebody is annotating it at the moment. Try again later.",
        empty.code: "It has no reviewed scores.",
        good.code: "It is a reference already.",
    }
    assert ReferenceDialogue.objects.count() == 1


def add(
    study: Study, dialogue: Dialogue, scores: dict[str, int | None], role: str = Role.GOLD
) -> ReferenceDialogue:
    return add_reference_scores(
        study=study, dialogue=dialogue, role=role, source="import", scores=scores, now=NOW
    )


def test_scores_can_be_brought_without_a_review(study: Study) -> None:
    dialogue = factories.add_dialogue(study)
    reference = add(study, dialogue, {RHYTHM: 2, ACCENT: None})
    assert known(reference) == {RHYTHM: 2, ACCENT: None}
    assert reference.source == "import"


@pytest.mark.parametrize(
    ("scores", "code"),
    [
        ({RHYTHM: 0}, "bad_score"),
        ({RHYTHM: 6}, "bad_score"),
        ({RHYTHM: 2.5}, "bad_score"),
        ({"charm": 3}, "unknown_dimension"),
        ({}, "no_scores"),
    ],
)
def test_scores_out_of_shape_are_refused_and_nothing_is_stored(study: Study, scores, code: str) -> None:
    dialogue = factories.add_dialogue(study)
    with pytest.raises((Invalid, Conflict)) as refused:
        add(study, dialogue, scores)
    assert refused.value.code == code
    assert not ReferenceDialogue.objects.exists()


def test_a_dialogue_of_another_study_and_an_unknown_role_are_refused(study: Study) -> None:
    with pytest.raises(NotFound):
        add(study, factories.DialogueFactory(), {RHYTHM: 3})
    with pytest.raises(Invalid):
        add(study, factories.add_dialogue(study), {RHYTHM: 3}, role="main")


def test_a_retired_one_comes_back_with_new_scores(study: Study) -> None:
    dialogue = factories.add_dialogue(study)
    first = add(study, dialogue, {RHYTHM: 2, STRESS: 4})
    retire(reference=first)
    again = add(study, dialogue, {RHYTHM: 5}, role=Role.CALIBRATION)
    assert again.pk == first.pk
    assert (again.is_active, again.role, known(again)) == (True, "calibration", {RHYTHM: 5})


def test_retiring_and_activating_leave_their_lines_once(study: Study) -> None:
    reference = add(study, factories.add_dialogue(study), {RHYTHM: 2})
    for _ in range(2):
        retire(reference=reference)
    assert not ReferenceDialogue.objects.get().is_active
    for _ in range(2):
        activate(reference=reference)
    assert ReferenceDialogue.objects.get().is_active
    actions = AuditLine.objects.filter(action__startswith="reference.").values_list("action", flat=True)
    assert sorted(actions) == ["reference.activated", "reference.made", "reference.retired"]


def test_one_in_somebodys_hands_is_not_activated(study: Study) -> None:
    reference = add(study, factories.add_dialogue(study), {RHYTHM: 2})
    retire(reference=reference)
    item = factories.BatchItemFactory(
        batch__annotator__participant=factories.ParticipantFactory(study=study), dialogue=reference.dialogue
    )
    with pytest.raises(Conflict) as refused:
        activate(reference=reference)
    assert refused.value.code == "being_annotated"
    BatchItem.objects.filter(pk=item.pk).update(state="returned")
    activate(reference=reference)


def test_a_version_of_the_taxonomy_without_a_dimension_refuses_its_scores(study: Study) -> None:
    assert default_taxonomy().dimensions.filter(key=RHYTHM).exists()
    with pytest.raises(Invalid, match="no dimension “rhythms”"):
        add(study, factories.add_dialogue(study), {"rhythms": 3})

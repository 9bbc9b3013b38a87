"""What an erasure leaves of an annotator: nothing in known scores, nothing in the audit trail."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation.models import Annotator, ReferenceDialogue, Score
from annotation.services.pausing import pause, resume
from annotation.services.references import activate, add_reference_scores, make_reference
from studies.models import AuditLine, Participant, Study
from studies.services.erasing import erase
from tests import factories
from tests.annotation.test_references import ACCENT, RHYTHM, STRESS, known, reviewed, study  # noqa: F401
from turingsite.errors import Conflict

pytestmark = [pytest.mark.both, pytest.mark.django_db]
GOLD = ReferenceDialogue.Role.GOLD


def raters_of(reference: ReferenceDialogue) -> list[Participant]:
    """In the order of the values that ``reviewed`` was given."""
    found = Participant.objects.filter(rater__scores__dialogue=reference.dialogue).distinct()
    return list(found.order_by("pk"))


def referred(study: Study, revised: dict[str, list[int | None]]) -> ReferenceDialogue:  # noqa: F811
    return make_reference(study=study, dialogues=[reviewed(study, revised)], role=GOLD).references[0]


def test_known_scores_are_reckoned_without_the_erased_ones(study: Study) -> None:  # noqa: F811
    reference = referred(study, {RHYTHM: [5, 5, 1], STRESS: [4, 4, 4], ACCENT: [None, 2, None]})
    other = referred(study, {RHYTHM: [2, 2, 2]})
    assert known(reference) == {RHYTHM: 5, STRESS: 4, ACCENT: None}
    erase(participant=raters_of(reference)[0])
    reference.refresh_from_db()
    assert reference.is_active
    assert known(reference) == {RHYTHM: 3, STRESS: 4, ACCENT: None}
    assert known(other) == {RHYTHM: 2}
    line = AuditLine.objects.get(action="reference.reckoned_anew")
    assert (line.target, line.detail) == (reference.dialogue.code, {"rows": 1, "scores": 3})


@pytest.mark.parametrize("raters", [1, 2])
def test_what_would_be_one_persons_scores_is_removed_and_retired(study: Study, raters: int) -> None:  # noqa: F811
    reference = referred(study, {RHYTHM: [5] * raters, STRESS: [1] * raters})
    erase(participant=raters_of(reference)[0])
    reference.refresh_from_db()
    assert not reference.is_active
    assert known(reference) == {}
    assert AuditLine.objects.get(action="reference.reckoned_anew").detail == {"rows": 2, "scores": 0}
    with pytest.raises(Conflict, match="no scores"):  # nothing is known of it any more
        activate(reference=reference)


def test_known_scores_that_rest_on_nobody_here_stay(study: Study) -> None:  # noqa: F811
    dialogue = reviewed(study, {RHYTHM: [5]})
    reference = add_reference_scores(
        study=study, dialogue=dialogue, role=GOLD, source="import", scores={RHYTHM: 4}
    )
    erase(participant=raters_of(reference)[0])
    assert not Score.objects.exists()
    reference.refresh_from_db()
    assert reference.is_active
    assert known(reference) == {RHYTHM: 4}


def test_the_audit_trail_loses_the_code_and_keeps_its_lines(study: Study, client) -> None:  # noqa: F811
    reviewed(study, {RHYTHM: [5, 4]})
    operator = factories.UserFactory(username="operator", is_staff=True, is_superuser=True)
    first, second = Annotator.objects.order_by("pk")
    for annotator in (first, second):
        pause(annotator=annotator, reason="Rest a little.", user=operator)
        resume(annotator=annotator, user=operator)
    code = first.participant.code
    erase(participant=first.participant)
    assert not AuditLine.objects.filter(target=code).exists()
    told = AuditLine.objects.filter(action__startswith="annotator.", study=study).values_list(
        "target", flat=True
    )
    assert sorted(told) == ["", "", second.participant.code, second.participant.code]
    client.force_login(operator)
    page = client.get(reverse("admin:desk_audit", args=[study.slug])).content.decode()
    assert "paused the annotator (erased)" in page
    assert code not in page

"""The game as part of a study: readiness, completeness, debrief, erasure, withdrawal."""

from __future__ import annotations

import pytest
from django.db.models.deletion import ProtectedError

from dialogues.models import Dialogue, Exposure, StudyItem, Verdict
from games.speech.models import ContentCheck, Round, SpeechPlayer, SpeechSettings, Trial
from studies import registry, services
from studies.models import EndState, Participant, Study
from tests import factories
from tests.clock import Clock
from tests.speech.conftest import Person

pytestmark = [pytest.mark.django_db, pytest.mark.both]

speech = registry.activities.get("speech")


def test_study_with_enough_dialogues_is_ready(study: Study) -> None:
    assert speech.ready(study) == []


def test_study_without_dialogues_in_a_language_is_not(study: Study) -> None:
    Study.objects.update(languages=["en", "zh"])
    study.refresh_from_db()
    (problem,) = map(str, speech.ready(study))
    assert "Chinese" in problem


def test_study_without_humans_is_not_ready(study: Study) -> None:
    StudyItem.objects.filter(dialogue__kind="human_human").delete()
    problems = " ".join(map(str, speech.ready(study)))
    assert "human" in problems


def test_study_with_too_few_systems_is_not_ready(study: Study) -> None:
    StudyItem.objects.filter(dialogue__kind="pseudo_human").delete()
    keep = Dialogue.objects.filter(kind="human_machine").order_by("pk")[:4].values_list("pk", flat=True)
    StudyItem.objects.filter(dialogue__kind="human_machine").exclude(dialogue__in=list(keep)).delete()
    (problem,) = map(str, speech.ready(study))
    assert "only 4" in problem


def test_few_voices_of_one_machine_kind_are_enough_beside_the_other(study: Study) -> None:
    """The published set has nine systems, but two synthesisers: where they run out, a system stands in."""
    keep = Dialogue.objects.filter(kind="pseudo_human").order_by("pk")[:1].values_list("pk", flat=True)
    StudyItem.objects.filter(dialogue__kind="pseudo_human").exclude(dialogue__in=list(keep)).delete()
    assert speech.ready(study) == []


def test_study_without_languages_is_not_ready(study: Study) -> None:
    study.languages = []
    assert len(speech.ready(study)) == 1


def test_prepare_gives_the_protocols_settings_once() -> None:
    study = factories.StudyFactory()
    speech.prepare(study)
    speech.prepare(study)
    assert SpeechSettings.objects.get(study=study).round_size == 5


def test_complete_after_all_rounds_enough_after_them_too(person: Person) -> None:
    SpeechSettings.objects.update(max_rounds=2)
    assert not speech.counts_as_done(person.participant)
    person.play_round()
    person.get("round/1/")
    assert not speech.is_complete(person.participant)
    assert not speech.counts_as_done(person.participant)
    person.play_round()
    assert not speech.is_complete(person.participant)  # the last reveal is still to be seen
    person.get("round/2/")
    assert speech.is_complete(person.participant)
    assert speech.counts_as_done(person.participant)


def test_one_round_is_enough_where_there_is_no_limit(person: Person) -> None:
    person.play_round()
    person.get("round/1/")
    assert not speech.is_complete(person.participant)
    assert speech.counts_as_done(person.participant)


def test_debrief_lists_every_answer_beside_the_truth(person: Person) -> None:
    person.play_round("rrwwr")
    rows = speech.debrief_rows(person.participant)
    assert [row.said == row.was for row in rows] == [True, True, False, False, True]
    assert all(row.line for row in rows)


def test_erasure_leaves_no_row_of_the_person(person: Person, other: Person) -> None:
    SpeechSettings.objects.update(content_checks=3)
    for _ in range(3):
        said = person.judge()
        if "/check/" in said.get("goto", ""):
            person.client.post(said["goto"], {"topic": "0"})
    other.judge()
    services.withdraw(participant=person.participant, erase_answers=True)
    for rows in (
        SpeechPlayer.objects.filter(participant=person.participant),
        Round.objects.filter(player__participant=person.participant),
        Trial.objects.filter(round__player__participant=person.participant),
        ContentCheck.objects.filter(trial__round__player__participant=person.participant),
        Exposure.objects.filter(rater__participant=person.participant),
        Verdict.objects.filter(rater__participant=person.participant),
    ):
        assert not rows.exists()
    assert Verdict.objects.get().rater.participant == other.participant
    assert Trial.objects.filter(round__player__participant=other.participant).exists()


def test_stopping_keeps_what_was_given_and_stores_nothing_more(person: Person) -> None:
    trial = person.trial()
    person.listen(trial)
    person.answer(trial)
    services.withdraw(participant=person.participant, erase_answers=False)
    assert Verdict.objects.count() == 1
    assert person.next(trial).status_code == 410
    assert person.get("trial/").status_code == 410
    assert Participant.objects.get(pk=person.participant.pk).end_state == EndState.WITHDREW


def test_dialogues_in_trials_cannot_be_deleted_by_mistake(person: Person, clock: Clock) -> None:
    code = person.trial()["code"]
    with pytest.raises(ProtectedError):
        Trial.objects.get(code=code).dialogue.delete()

"""Annotators' final choices are verdicts of their own: no figure, plan or list of the game counts them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import BatchItem
from dialogues import pilot, selectors, targets
from dialogues.models import Kind, Verdict
from games.speech import assignment
from studies.models import Study
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(db: None) -> Study:
    """One verdict of the game and one of the annotation on the same dialogue, each of every sort."""
    study: Study = factories.StudyFactory(slug="both", languages=["en"], activities=["speech", "annotation"])
    dialogue = factories.add_dialogue(study, kind=Kind.PSEUDO_HUMAN)
    for exclusion in ("", "pilot", "known"):
        for activity in ("speech", "annotation"):
            person = factories.ParticipantFactory(study=study)
            factories.VerdictFactory(
                rater=person.rater, dialogue=dialogue, activity=activity, exclusion=exclusion
            )
    return study


def test_counts_of_the_game_leave_them_out(study: Study) -> None:
    assert Verdict.objects.filter(study=study).count() == 6
    assert targets.analysed(study) == 1
    assert [cell.n for cell in targets.cells_of(study, "kind", "all")] == [1]
    assert selectors.verdicts_of(study) == {("en", "pseudo_human"): 1}
    assert selectors.left_out_of(study) == {"pilot": 1, "known": 1}
    assert pilot.correlations_of(study).verdicts == 1
    assert list(assignment.counts(study, now=factories.NOW).values()) == [1]


def test_pages_of_the_desk_leave_them_out(study: Study, cast: Any) -> None:
    factories.StudyMemberFactory(study=study, user=cast.researcher)
    study.status = Study.Status.CLOSED  # so that what was said may be read
    study.save()
    client = Client()
    client.force_login(cast.researcher)
    listed = client.get(reverse("admin:desk_verdicts", args=["both"])).context
    assert len(listed["rows"]) == 3
    row = next(row for row in client.get(reverse("admin:index")).context["rows"] if row["study"] == study)
    assert row["verdicts"] == 1
    assert client.get(reverse("admin:desk_study", args=["both"])).context["verdicts_total"] == 1
    annotator = Verdict.objects.filter(activity="annotation", exclusion="").get().rater.participant
    assert annotator is not None
    person = client.get(reverse("admin:desk_participant", args=["both", annotator.code])).context
    assert person["verdicts"] == 0
    dialogue = Verdict.objects.all()[0].dialogue
    page = client.get(reverse("admin:desk_dialogue", args=[dialogue.code]))
    assert page.context["verdicts"] == 1


def test_the_game_draws_nothing_an_annotator_has_heard(study: Study) -> None:
    """And the other way round: an exposure counts whatever it was for."""
    item = factories.BatchItemFactory(
        batch__annotator__participant__study=study, dialogue=study.items.get().dialogue
    )
    assert BatchItem.objects.get() == item
    player = factories.SpeechPlayerFactory(participant=item.batch.annotator.participant)
    settings = factories.SpeechSettingsFactory(study=study)
    draws = assignment.Draws(player, "en", settings, now=factories.NOW)
    assert draws.has_unheard is False

"""Reference sets on the desk: proposed with kinds alike and scores against the truth, then made."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import AnnotationSettings, ReferenceDialogue, Resolution, ReviewCase, Score
from annotation.proposing import Candidate, candidates_of, lacking, propose, quotas_of, sampled, share_of
from annotation.selectors_desk import pool_of
from annotation.services.settings import settings_of
from dialogues.models import Dialogue
from studies.models import AuditLine, Study
from tests import factories
from tests.factories import NOW


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


def close(study: Study, dialogue: Dialogue, value: int | None = None) -> None:
    """A closed review of all that was scored of ``dialogue``, as it was, or all as ``value``."""
    case = ReviewCase.objects.create(
        study=study, dialogue=dialogue, state="closed", made_at=NOW, closed_at=NOW
    )
    for score in Score.objects.filter(study=study, dialogue=dialogue, layer="raw"):
        result = Score.objects.create(
            study=study, rater=score.rater, dialogue=dialogue, dimension=score.dimension, layer="truth-shown",
            value=value or score.value, evidence=score.evidence, revises=score, given_at=NOW,
        )  # fmt: skip
        Resolution.objects.create(case=case, score=score, result=result, how="unanimous", closed_at=NOW)


@pytest.fixture
def study(cast: Any) -> Study:
    """Six dialogues scored 4 throughout: right for humans, against the truth of machines; five reviewed."""
    made = factories.annotated_study("scored", dialogues=6, raters=2)
    AnnotationSettings.objects.update(calibration=True)
    factories.StudyMemberFactory(study=made, user=cast.researcher)
    factories.StudyMemberFactory(study=made, user=cast.colleague, role="colleague")
    for dialogue in Dialogue.objects.order_by("pk")[:5]:
        close(made, dialogue)
    return made


@pytest.fixture
def researcher(client: Any, cast: Any, study: Study) -> Any:
    client.force_login(cast.researcher)
    return client


def test_kinds_are_alike_in_number_as_far_as_there_are_any() -> None:
    assert quotas_of(Counter(a=5, b=5), 4) == {"a": 2, "b": 2}
    assert quotas_of(Counter(a=5, b=1, c=9), 8) == {"a": 4, "b": 1, "c": 3}
    assert quotas_of(Counter(a=2), 8) == {"a": 2}
    assert quotas_of(Counter(), 3) == {}


def test_a_sample_reaches_the_share_against_the_truth_where_it_can() -> None:
    def one(pk: int, against: int) -> Candidate:
        kind = "human_human" if pk % 2 else "pseudo_human"
        return Candidate(Dialogue(pk=pk, kind=kind), 10, against)

    pool = [one(pk, 6 if pk in (3, 8) else 1) for pk in range(20)]
    sample = sampled(pool, 4, 0.3, random.Random(1))
    share = share_of(sample)
    assert share is not None
    assert share >= 0.3
    assert Counter(each.dialogue.kind for each in sample) == {"human_human": 2, "pseudo_human": 2}
    poor = sampled([one(pk, 0) for pk in range(8)], 4, 0.25, random.Random(1))
    assert lacking(poor, 0.25) == 0.25


def test_candidates_have_a_closed_review_and_are_no_references(study: Study) -> None:
    settings = settings_of(study)
    found = candidates_of(settings)
    assert [(one.clear, one.against) for one in found] == [(18, 0), (18, 18), (18, 0), (18, 18), (18, 0)]
    study.reference_dialogues.create(dialogue=found[0].dialogue, role="gold", source="import", added_at=NOW)
    Dialogue.objects.filter(pk=found[1].dialogue.pk).update(state="withdrawn")
    assert len(candidates_of(settings)) == 3
    assert propose(settings, 2) == propose(settings, 2)


def test_two_clicks_make_a_reference_set(researcher: Any, study: Study) -> None:
    first = researcher.get(url("annotation", "scored"))
    assert f"{url('references', 'scored')}?role=calibration" in first.content.decode()
    page = researcher.get(url("references", "scored") + "?role=calibration&n=4")
    proposal = page.context["proposal"]
    assert Counter(one.dialogue.kind for one in proposal.candidates) == {"human_human": 2, "pseudo_human": 2}
    text = page.content.decode()
    assert "4 of 4 wanted become calibration dialogues" in text
    assert "At least 25 % of their clear scores" in text
    assert "It is 50" not in text
    sent = {
        "do": "make", "role": "calibration", "dialogue": [one.dialogue.code for one in proposal.candidates],
    }  # fmt: skip
    done = researcher.post(url("references", "scored"), sent, follow=True)
    assert "4 references are made." in done.content.decode()
    made = ReferenceDialogue.objects.filter(study=study, role="calibration", is_active=True)
    assert made.count() == 4
    assert made[0].scores.count() == 18
    assert set(pool_of(study)).isdisjoint({one.dialogue for one in made})
    again = researcher.post(url("references", "scored"), sent, follow=True).content.decode()
    assert "It is a reference already." in again
    assert AuditLine.objects.filter(action="reference.made").count() == 4


def test_the_share_itself_is_shown_once_outcomes_are(researcher: Any, study: Study) -> None:
    researcher.post(url("look", "scored"))
    page = researcher.get(url("references", "scored") + "?role=calibration&n=4").content.decode()
    assert "It is 50 %." in page


def test_references_are_taken_out_of_use_and_used_again(researcher: Any, study: Study) -> None:
    dialogue = Dialogue.objects.order_by("pk")[0]
    researcher.post(url("references", "scored"), {"do": "make", "role": "gold", "dialogue": [dialogue.code]})
    row = ReferenceDialogue.objects.get()
    researcher.post(url("references", "scored"), {"do": "retire", "code": dialogue.code})
    row.refresh_from_db()
    assert not row.is_active
    researcher.post(url("references", "scored"), {"do": "activate", "code": dialogue.code})
    row.refresh_from_db()
    assert row.is_active


def test_what_was_not_reviewed_is_refused_by_name(researcher: Any, study: Study) -> None:
    dialogue = Dialogue.objects.order_by("pk")[5]
    sent = {"do": "make", "role": "calibration", "dialogue": [dialogue.code]}
    told = researcher.post(url("references", "scored"), sent, follow=True).content.decode()
    assert f"{dialogue.external_id}: Its review is not closed yet." in told
    assert not ReferenceDialogue.objects.exists()


def test_colleagues_see_references_but_propose_none(client: Any, cast: Any, study: Study) -> None:
    client.force_login(cast.colleague)
    page = client.get(url("references", "scored") + "?role=calibration")
    assert page.status_code == 200
    assert "proposal" not in page.context
    assert client.post(url("references", "scored"), {"do": "make"}).status_code == 404

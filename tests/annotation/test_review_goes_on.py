"""The review leads on: what was stored is said, the next case is at hand, changed decisions stay in sight."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import BatchItem, ReviewCase, Score
from annotation.services.review_cases import refresh_cases
from dialogues.models import Dialogue, Kind
from tests import factories
from tests.annotation.reviewers import fresh, make_reviewer
from tests.factories import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(db: None) -> ReviewCase:
    """The first of two cases: a rater is apart from the others on rhythm, and heard no evidence of stress."""
    study = factories.annotated_study(dialogues=2)
    one = BatchItem.objects.filter(dialogue=Dialogue.objects.get(kind=Kind.PSEUDO_HUMAN)).order_by("pk")[0]
    Score.objects.filter(item=one, dimension__key="rhythm").update(value=1)
    Score.objects.filter(item=one, dimension__key="stress").update(value=3, evidence=False)
    refresh_cases(study, NOW)
    return ReviewCase.objects.order_by("-disagreement")[0]


@pytest.fixture
def ada(case: ReviewCase) -> Client:
    client = Client()
    client.force_login(make_reviewer(case.study, "ada"))
    return client


def place(case: ReviewCase, part: str = "") -> str:
    return f"/review/{case.study.slug}/{case.code}/{part}"


def send(client: Client, case: ReviewCase, part: str, **data: Any) -> str:
    answer = client.post(place(case, part), {"version": fresh(case).version, **data}, follow=True)
    return answer.content.decode()


def test_after_approving_all_it_says_so_and_leads_to_the_next_case(case: ReviewCase, ada: Client) -> None:
    other = ReviewCase.objects.exclude(pk=case.pk).get()
    shown = send(ada, case, "approve/", lot="all")
    assert "Stored: 54 scores approved." in shown
    assert f'href="{place(other)}">Next case</a>' in shown
    shown = send(ada, other, "approve/", lot="all")
    assert "Next case" not in shown
    assert "Nothing else waits for you." in shown


def test_after_deciding_it_says_so_once(case: ReviewCase, ada: Client) -> None:
    shown = send(ada, case, "decide/", score="rhythm.1", choice="2", reason="Cut pauses.")
    assert shown.count("Stored.") == 1
    assert "Next case" in shown
    assert "Stored." not in ada.get(place(case)).content.decode()


def test_a_decision_that_was_changed_stays_in_sight(case: ReviewCase, ada: Client) -> None:
    send(ada, case, "decide/", score="rhythm.1", choice="2", reason="Cut pauses.")
    send(ada, case, "approve/", score="rhythm.1")
    shown = ada.get(place(case), {"open": "rhythm"}).content.decode()
    struck = shown.split("<del>")[1].split("</del>")[0]
    assert "→ 2" in struck
    assert "Cut pauses." in struck
    assert "<del>" not in ada.get(place(case), {"open": "stress"}).content.decode()


def test_numbers_in_the_table_have_words(case: ReviewCase, ada: Client) -> None:
    BatchItem.objects.filter(dialogue=case.dialogue).update(confidence=4)
    shown = ada.get(place(case)).content.decode()
    assert "sure 4/5" in shown
    assert "0/3 how many of the 3 reviewers have decided" in shown
    row = shown.split('id="d-stress"')[1].split("</th>")[0]
    assert "1 heard no evidence" in row
    assert "heard no evidence" not in shown.split('id="d-rhythm"')[1].split("</th>")[0]

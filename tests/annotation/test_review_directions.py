"""Marks of direction in what somebody wrote: they stay in it, and turn nothing around it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.models import ReviewCase
from annotation.services.review_cases import scores_of
from annotation.services.reviewing import comment, decide
from tests.annotation.reviewers import fresh
from tests.annotation.test_review_pages import ada, case, study, three  # noqa: F401
from tests.factories import NOW

pytestmark = pytest.mark.django_db


def test_what_others_wrote_turns_no_text_around_it(case: ReviewCase, three: list[Any], ada: Client) -> None:  # noqa: F811
    comment(case=case, author=three[1], text="turned \u202e round", now=NOW)
    score = scores_of(case)[0]
    words: dict[str, Any] = {
        "value": 2,
        "reason": "also \u202e so",
        "version": fresh(case).version,
        "now": NOW,
    }
    decide(case=case, score=score, reviewer=three[1], decision="propose", **words)
    page = ada.get(f"/review/{case.study.slug}/{case.code}/?open={score.dimension.key}").content.decode()
    assert "<bdi>turned \u202e round</bdi>" in page
    assert "<q>also \u202e so</q>" in page
    assert re.search(r"^q { unicode-bidi: isolate; }$", Path("static/css/site.css").read_text(), re.M)

"""Commands that show outcomes the desk hides: they say so beside what they show, and leave a line."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from studies.models import AuditLine, Study
from tests import factories

SAID = "counts as an early look"


@pytest.fixture
def slug(cast: Any) -> str:
    factories.VerdictFactory(rater=cast.participant.rater, dialogue=factories.add_dialogue(cast.study))
    return str(cast.study.slug)


def told(name: str, *words: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(name, *words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_a_report_of_a_running_study_says_that_it_is_an_early_look(slug: str) -> None:
    out, err = told("report", "success-rate", "--study", slug, "--format", "csv")
    assert SAID in err
    assert SAID not in out
    assert AuditLine.objects.get(action="report.read").detail["n"] == 1
    assert told("report", "recordings", "--study", slug)[1] == ""
    Study.objects.update(status="closed")
    assert told("report", "success-rate", "--study", slug)[1] == ""


def test_an_export_of_a_running_study_says_so_too(slug: str, tmp_path: Path) -> None:
    words = (slug, "--out", str(tmp_path / "x.zip"))
    out, err = told("export", *words)
    assert SAID in err
    assert SAID not in out
    assert AuditLine.objects.get(action="study.exported").detail["n"] == 1
    Study.objects.update(status="closed")
    assert told("export", *words)[1] == ""

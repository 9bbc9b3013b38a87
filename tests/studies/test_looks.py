"""Looks at outcomes: early ones, readings after the target, and what was read while a study was closed."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from studies import audit, services
from studies.exports import export_study
from studies.looks import looks_of
from studies.models import AuditLine, Study
from studies.report_formats import as_json, as_markdown
from studies.reports import run_report, run_report_from
from tests import factories
from tests.rooms import GameFactory
from tests.speech.played import Played
from turingsite.errors import Conflict


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


@pytest.fixture
def study(db: None, client: Any) -> Study:
    """Seventy verdicts, 40 on the one system; its researcher is signed in."""
    made = Played("looked-at").study
    client.force_login(factories.StudyMemberFactory(study=made).user)
    return made


def freeze(study: Study, target: int) -> None:
    decided = {"hypothesis": "H", "outcome": "accuracy.accuracy", "stopping": "S", "target_n": target}
    services.save_draft(study=study, content=decided)
    services.freeze_plan(study=study, verdicts=0)


def move(client: Any, study: Study, to: str, **more: str) -> Any:
    answer = client.post(url("status", study.slug), {"to": to, **more})
    study.refresh_from_db()
    return answer


def test_close_read_reopen_leaves_a_look_and_is_said_everywhere(
    client: Any, study: Study, tmp_path: Path
) -> None:
    freeze(study, 100)
    move(client, study, "closed", sure="yes")
    client.get(url("report", study.slug, "accuracy"))
    assert looks_of(study) == []
    asked = move(client, study, "paused")
    assert study.status == "closed"
    assert "Outcomes were read once since it was closed." in asked.content.decode()
    with pytest.raises(Conflict) as refused:
        services.change_status(study=study, to="paused")
    assert refused.value.code == "outcomes_read"
    move(client, study, "paused", sure="yes")
    assert study.status == "paused"

    page = client.get(url("plan", study.slug))
    looks = [(str(look["what"]), look["n"], look["closed"]) for look in page.context["looks"]]
    assert looks == [("Accuracy", 70, True)]
    said = "after outcomes had been read at 70 verdicts"
    assert said in page.content.decode()
    here, out = run_report("accuracy", study), tmp_path / "x.zip"
    assert said in as_markdown(here)
    manifest = export_study(study=study, path=out)
    assert [one["verdicts"] for one in manifest["reopened"]] == [70]
    assert (manifest["looks"][0]["status"], manifest["looks"][0]["early"]) == ("closed", True)
    assert as_json(run_report_from("accuracy", out)) == as_json(here)

    move(client, study, "closed", sure="yes")
    client.get(url("report", study.slug, "accuracy"))
    assert [line.detail["status"] for line in looks_of(study)] == ["paused", "closed"]


def test_reopening_what_nobody_read_is_asked_and_leaves_nothing(client: Any, study: Study) -> None:
    freeze(study, 100)
    move(client, study, "closed", sure="yes")
    client.get(url("report", study.slug, "funnel"))  # it has no outcomes
    assert "No report was read" in move(client, study, "paused").content.decode()
    services.change_status(study=study, to="paused")
    assert looks_of(study) == []
    assert json.loads(as_json(run_report("accuracy", study)))["plan"]["reopened"] == []


def test_readings_after_the_target_are_no_early_looks(client: Any, study: Study) -> None:
    freeze(study, 30)
    Study.objects.filter(pk=study.pk).update(status="open")
    cache.clear()
    client.get(url("report", study.slug, "accuracy"))
    page = client.get(url("plan", study.slug))
    assert page.context["looks"] == []
    assert [str(reading["what"]) for reading in page.context["readings"]] == ["Accuracy"]


def test_a_look_counts_every_sort_that_the_study_has(client: Any, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(status="open")
    GameFactory(room__study=study, end="survived", ended_at=timezone.now())
    client.post(url("look", study.slug))
    line = AuditLine.objects.get(action="study.looked_early")
    assert line.detail == {"n": 70, "also": {"games": 1}, "status": "open"}
    # A line from before sorts were named is of the sort of its report.
    audit.record("report.read", study=study, target="group-votes", n=1, status="open")
    page = client.get(url("plan", study.slug))
    assert [one["counted"] for one in page.context["looks"]] == ["1 game", "70 verdicts, 1 game"]


def test_a_report_and_its_files_within_a_minute_are_one_reading(client: Any, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(status="closed")
    page = url("report", study.slug, "accuracy")
    for query in ("", "?format=csv", "?format=md", "?set=first_round"):
        assert client.get(page + query).status_code == 200
    lines = AuditLine.objects.filter(action="report.read")
    assert sorted(line.detail["set"] for line in lines) == ["all", "first_round"]
    AuditLine.objects.update(at=timezone.now() - timedelta(minutes=2))
    client.get(page)
    assert lines.all().count() == 3

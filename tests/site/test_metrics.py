"""/metrics: there only with its token, figures of requests and of the site, nobody in them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from dialogues.models import ProcessingJob
from games.speech.models import Trial
from tests import factories
from tests.annotation.annotating import Rater, work_study
from tests.clock import Clock
from tests.speech.conftest import Person
from turingsite import heartbeat

TOKEN = "a token that is long enough"


@pytest.fixture
def token(settings: Any) -> dict[str, str]:
    settings.METRICS_TOKEN = TOKEN
    return {"Authorization": f"Bearer {TOKEN}"}


def figures(client: Client, token: dict[str, str]) -> dict[str, float]:
    answer = client.get("/metrics", headers=token)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    pairs = re.findall(r"^(turingsite_\S+) (\S+)$", answer.content.decode(), re.MULTILINE)
    return {name: float(value) for name, value in pairs}


@pytest.mark.django_db
def test_not_there_without_a_token_set(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer wrong", TOKEN + "x", "Bearer é"])
def test_not_told_without_the_token(client: Client, token: dict[str, str], given: str) -> None:
    answer = client.get("/metrics", headers={"Authorization": given})
    assert (answer.status_code, answer.content) == (401, b"")
    assert client.post("/metrics", headers=token).status_code == 405


@pytest.mark.both
@pytest.mark.django_db
def test_figures_of_the_site(client: Client, token: dict[str, str], clock: Clock, settings, tmp_path) -> None:
    settings.VAR_DIR = tmp_path
    study = factories.speech_study()
    factories.StudyFactory(status="draft")
    person = Person(factories.ParticipantFactory(study=study), clock)
    person.judge()
    clock.pass_(601)
    other = Person(factories.ParticipantFactory(study=study), clock)
    other.trial()
    job = ProcessingJob.objects.create(dialogue=factories.DialogueFactory(), state="queued")
    ProcessingJob.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(hours=2))
    ProcessingJob.objects.create(dialogue=factories.DialogueFactory(), state="done")
    heartbeat.beat()
    found = figures(client, token)
    assert found["turingsite_database_up"] == 1
    assert found['turingsite_studies{status="open"}'] == 1
    assert found['turingsite_studies{status="draft"}'] == 1
    assert found['turingsite_studies{status="closed"}'] == 0
    assert found["turingsite_verdicts"] == 1
    assert found['turingsite_jobs_waiting{kind="processingjob"}'] == 1
    assert found['turingsite_jobs_oldest_seconds{kind="processingjob"}'] == 7200
    assert found['turingsite_jobs_waiting{kind="importbatch"}'] == 0
    assert found["turingsite_heartbeat_age_seconds"] >= 0
    assert found["turingsite_people_active"] == 1, "the other one has been away for ten minutes"
    assert Trial.objects.filter(state="current").count() == 2


@pytest.mark.both
@pytest.mark.django_db
def test_people_who_annotate_are_active_and_nobody_counts_twice(
    client: Client, token: dict[str, str], clock: Clock
) -> None:
    away, rater = (Rater(work_study(slug), clock) for slug in ("a", "b"))
    away.item()
    clock.pass_(601)
    rater.item()
    study = rater.participant.study
    factories.SpeechSettingsFactory(study=study)
    round_ = factories.RoundFactory(player__participant=rater.participant)
    factories.TrialFactory(round=round_, served_at=clock.now, state="current", lease_until=clock.now)
    assert figures(client, token)["turingsite_people_active"] == 1


@pytest.mark.django_db
def test_requests_are_counted_by_route_not_by_address(client: Client, token: dict[str, str]) -> None:
    study = factories.StudyFactory(slug="zanzibar")
    factories.ConsentTextFactory(study=study)

    def count(view: str, status: int, method: str = "GET") -> float:
        name = f'turingsite_request_seconds_count{{method="{method}",status="{status}",view="{view}"}}'
        return figures(client, token).get(name, 0)

    before = count("studies:welcome", 200), count("none", 404), count("none", 405, "other")
    client.get("/s/zanzibar/?PROLIFIC_PID=person-4711")
    client.get("/no/such/zanzibar")
    client.generic("ZANZIBAR", "/health/live")
    assert count("studies:welcome", 200) == before[0] + 1
    assert count("none", 404) == before[1] + 1
    text = client.get("/metrics", headers=token).content.decode()
    for secret in ("zanzibar", "ZANZIBAR", "person-4711"):
        assert secret not in text


@pytest.mark.django_db
def test_a_silent_database_is_a_figure_not_a_fault(
    client: Client, token: dict[str, str], monkeypatch
) -> None:
    def silent(*args: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr("turingsite.metrics.SiteState._from_rows", silent)
    found = figures(client, token)
    assert found["turingsite_database_up"] == 0
    assert "turingsite_verdicts" not in found

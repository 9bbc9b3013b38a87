"""Exports as jobs: asked for, made, watched, stopped, taken up again, fetched, removed."""

from __future__ import annotations

import io
import json
import os
import threading
import time
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from studies import export_jobs, exports, tasks
from studies.export_jobs import request_export, run, stop, waiting
from studies.exported import Exported
from studies.looks import looks_of
from studies.models import AuditLine, ExportFile, ExportJob, Study
from studies.services import withdraw
from tests import factories
from tests.conftest import Cast
from tests.speech.played import Played
from turingsite.errors import Conflict, Invalid

State = ExportJob.State


@pytest.fixture(autouse=True)
def place(settings: Any, tmp_path: Path) -> Path:
    settings.EXPORT_ROOT = tmp_path / "exports"
    return tmp_path / "exports"


@pytest.fixture
def study(db: None) -> Study:
    return Played().study


def job_of(study: Study, **more: Any) -> ExportJob:
    return request_export(study=study, tier=more.pop("tier", "controlled"), **more)


def files(place: Path) -> list[Path]:
    return list(place.iterdir()) if place.exists() else []


# The job


@pytest.mark.both
def test_a_job_ends_with_a_file_and_all_rows_counted(study: Study) -> None:
    job = job_of(study, formats=("parquet", "csv"), bom=True)
    assert (job.state, job.formats) == (State.QUEUED, "csv,parquet")
    ended = run(job_id=job.pk)
    assert ended is not None
    assert (ended.state, ended.rows_done, ended.claim) == (State.DONE, ended.rows_total, "")
    assert ended.file is not None
    path = export_jobs.path_of(ended)
    assert ended.size == path.stat().st_size
    with Exported(path) as export:
        assert export.manifest["formats"] == ["csv", "parquet"]
        assert export.manifest["bom"]
    assert run(job_id=job.pk) is None  # a task that comes twice


@pytest.mark.both
@pytest.mark.parametrize("formats", [("csv",), ("jsonl",), ("csv", "jsonl")])
@pytest.mark.parametrize("tier", ["public", "controlled"])
def test_the_rows_told_of_are_the_rows_announced(
    study: Study, tmp_path: Path, tier: str, formats: tuple[str, ...]
) -> None:
    told: list[int] = []
    path = tmp_path / "x.zip"
    exports.export_study(study=study, path=path, tier=tier, formats=formats, progress=told.append)
    assert sum(told) == exports.rows_to_read(study, tier, formats)


def test_unknown_wishes_are_refused_in_words(study: Study) -> None:
    for wish in ({"tier": "secret"}, {"formats": ("xlsx",)}, {"formats": ()}, {"language": "fr"}):
        with pytest.raises(Invalid):
            job_of(study, **wish)
    assert not ExportJob.objects.exists()


@pytest.mark.both
def test_the_same_export_is_made_once_at_a_time(study: Study) -> None:
    job = job_of(study)
    with pytest.raises(Conflict, match="being made already"):
        job_of(study)
    with pytest.raises(IntegrityError), transaction.atomic():
        ExportJob.objects.create(study=study, tier="controlled", formats="csv", created_at=timezone.now())
    job_of(study, tier="public")
    job_of(study, formats=("jsonl",))
    run(job_id=job.pk)
    job_of(study)


def test_a_running_job_is_left_to_whoever_has_it_until_its_lease_ends(study: Study) -> None:
    job = job_of(study)
    now = timezone.now()
    ExportJob.objects.update(state=State.RUNNING, claim="theirs", lease_until=now + timedelta(seconds=60))
    assert waiting() == []
    assert run(job_id=job.pk) is None
    ExportJob.objects.update(lease_until=now - timedelta(seconds=1), rows_done=999)
    assert waiting() == [job.pk]
    ended = run(job_id=job.pk)
    assert ended is not None
    assert (ended.state, ended.attempts, ended.rows_done) == (State.DONE, 1, ended.rows_total)


def test_a_job_that_ends_its_worker_again_and_again_is_given_up(study: Study, place: Path) -> None:
    job = job_of(study)
    ExportJob.objects.update(
        state=State.RUNNING, claim="x", attempts=3, lease_until=timezone.now() - timedelta(minutes=1)
    )
    ended = run(job_id=job.pk)
    assert ended is not None
    assert ended.state == State.FAILED
    assert "given up" in ended.error
    assert files(place) == []


def test_the_sweep_sends_what_waits_and_a_stopping_worker_gives_its_job_back(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(study)

    def killed(**_wanted: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(export_jobs, "export_study", killed)
        with pytest.raises(SystemExit):
            run(job_id=job.pk)
    sent: list[int] = []
    monkeypatch.setattr(tasks.run_export, "delay", sent.append)
    tasks.sweep_exports()
    assert sent == [job.pk]
    tasks.run_export(job.pk)
    job.refresh_from_db()
    assert job.state == State.DONE


def test_a_full_disk_fails_the_job_in_words_and_leaves_nothing(
    study: Study, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    job = job_of(study)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))  # no file may grow beyond that
    try:
        ended = run(job_id=job.pk)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert ended is not None
    assert ended.state == State.FAILED
    assert "disk is full" in ended.error
    assert files(place) == []
    assert not ExportFile.objects.exists()


def test_an_export_is_limited_to_a_language(study: Study, tmp_path: Path) -> None:
    played = Played("two", "Two")
    chinese = played.dialogue("human_human", language="zh")
    played.verdict(played.people[0], chinese, "human")
    path = tmp_path / "zh.zip"
    manifest = exports.export_study(study=played.study, path=path, language="zh")
    assert manifest["limited_to"] == {"language": "zh"}
    with Exported(path) as export:
        assert [row["dialogue"] for row in export.table("dialogues")] == [chinese.code]
        assert [row["dialogue"] for row in export.table("verdicts")] == [chinese.code]
        assert len(list(export.table("participants"))) == 10
    with zipfile.ZipFile(path) as archive:
        headlines = json.loads(archive.read("headlines.json"))["headlines"]
        assert {row["language"] for row in headlines} == {"zh"}
        assert max(row["n"] for row in headlines) == 1


# Stopping and watching, with other connections


class Waiting:
    """Holds an export after its first rows until told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        monkeypatch.setattr(export_jobs, "EVERY", 0.05)
        real = exports.export_study

        def held(*, progress: Any, **wanted: Any) -> Any:
            def told(rows: int) -> None:
                progress(rows)
                if rows and not self.begun.is_set():
                    self.begun.set()
                    self.go_on.wait(15)

            return real(progress=told, **wanted)

        monkeypatch.setattr(export_jobs, "export_study", held)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    return Waiting(monkeypatch)


def in_a_thread(job: ExportJob) -> threading.Thread:
    from django.db import connection

    def work() -> None:
        try:
            run(job_id=job.pk)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def until(true: Any) -> None:
    end = time.monotonic() + 15
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_progress_is_seen_while_it_runs_and_the_lease_is_renewed(held: Waiting) -> None:
    job = job_of(Played().study)
    thread = in_a_thread(job)
    assert held.begun.wait(15)
    first = ExportJob.objects.get(pk=job.pk)
    assert first.state == State.RUNNING
    until(lambda: ExportJob.objects.get(pk=job.pk).rows_done > 0)
    assert first.lease_until is not None
    until(lambda: ExportJob.objects.filter(pk=job.pk, lease_until__gt=first.lease_until).exists())
    held.go_on.set()
    thread.join(30)
    job.refresh_from_db()
    assert (job.state, job.rows_done) == (State.DONE, job.rows_total)


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_stopping_ends_it_and_leaves_no_file(held: Waiting, place: Path) -> None:
    job = job_of(Played().study)
    thread = in_a_thread(job)
    assert held.begun.wait(15)
    stop(job=job)
    time.sleep(0.3)  # some beats
    held.go_on.set()
    thread.join(30)
    job.refresh_from_db()
    assert job.state == State.STOPPED
    assert files(place) == []
    assert not ExportFile.objects.exists()
    with pytest.raises(Conflict, match="ended already"):
        stop(job=job)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_comes_late_takes_nothing_away(held: Waiting, place: Path) -> None:
    job = job_of(Played().study)
    late = in_a_thread(job)
    assert held.begun.wait(15)
    ExportJob.objects.update(claim="", state=State.QUEUED, lease_until=None)  # as after its lease ran out
    ended = run(job_id=job.pk)
    assert ended is not None
    assert ended.state == State.DONE
    held.go_on.set()
    late.join(30)
    assert files(place) == [export_jobs.path_of(ended)]
    job.refresh_from_db()
    assert job.state == State.DONE


# Keeping


def test_files_go_after_their_days_and_stale_ones_at_once(study: Study, place: Path, settings: Any) -> None:
    settings.EXPORT_KEEP_DAYS = 7
    kept, old, stale = (job_of(study, tier=tier) for tier in ("controlled", "public", "internal"))
    for job in (kept, old, stale):
        run(job_id=job.pk)
    ExportJob.objects.filter(pk=old.pk).update(finished_at=timezone.now() - timedelta(days=8))
    stale.refresh_from_db()
    ExportFile.objects.filter(job=stale).update(stale_since=timezone.now())
    half = place / ".x.zip.abc.part"
    half.write_bytes(b"half")
    yesterday = time.time() - 2 * 86_400
    os.utime(half, (yesterday, yesterday))
    assert export_jobs.remove_old() == 2
    assert export_jobs.remove_old() == 0
    kept.refresh_from_db()
    assert files(place) == [export_jobs.path_of(kept)]
    old.refresh_from_db()
    assert old.removed_at is not None
    with pytest.raises(Conflict, match="no longer here"):
        export_jobs.fetch(job=old)
    stale.refresh_from_db()
    with pytest.raises(Conflict, match="erased since"):
        export_jobs.fetch(job=stale)


# On the desk


def url(name: str, *args: str) -> str:
    return reverse(f"admin:desk_{name}", args=args)


def content(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


@pytest.fixture
def desk(cast: Cast, client: Any) -> Any:
    Study.objects.update(status="closed")  # nothing is hidden any more
    client.force_login(cast.researcher)
    return client


def test_a_small_export_comes_at_once_and_stays_in_the_list(desk: Any, cast: Cast) -> None:
    slug = cast.study.slug
    answer = desk.post(url("export", slug), {"tier": "public", "jsonl": "yes", "bom": "no"})
    data = content(answer)
    assert answer["Content-Disposition"].startswith(f'attachment; filename="{slug}-')
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert "tables/verdicts.jsonl" in names
    job = ExportJob.objects.get()
    page = desk.get(url("exports", slug)).content.decode()
    assert job.file is not None
    assert job.file.sha256 in page
    assert "data-renew" not in page
    told = json.loads(zipfile.ZipFile(io.BytesIO(data)).read("manifest.json"))["coarsened"]["profile"]
    assert told["withheld"]
    for name, n in told["withheld"].items():
        assert f"<code>{name}</code> {n}" in page
    assert f"of {told['people']}; whole profiles left out: {told['profiles_left_out']}." in page
    assert content(desk.get(url("export_file", slug, job.code))) == data
    assert AuditLine.objects.filter(action="export.fetched", target=job.code).count() == 2


def test_a_large_export_is_made_by_a_worker(
    desk: Any,
    cast: Cast,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.EXPORT_AT_ONCE = 0
    sent: list[Any] = []
    monkeypatch.setattr(tasks.run_export, "apply_async", lambda args, **_how: sent.append(args))
    slug = cast.study.slug
    with django_capture_on_commit_callbacks(execute=True):
        answer = desk.post(url("export", slug), {"tier": "controlled"})
    assert answer.status_code == 302
    job = ExportJob.objects.get()
    assert sent == [(job.pk,)]
    page = desk.get(url("exports", slug)).content.decode()
    assert "data-renew" in page
    assert "Waiting for a worker." in page
    again = desk.post(url("export", slug), {"tier": "controlled"}, follow=True).content.decode()
    assert "being made already" in again
    early = desk.get(url("export_file", slug, job.code), follow=True).content.decode()
    assert "not done" in early
    desk.post(url("export_stop", slug, job.code))
    job.refresh_from_db()
    assert job.state == State.STOPPED
    assert "stopped" in desk.get(url("exports", slug)).content.decode()


def test_a_full_disk_is_told_on_the_page(desk: Any, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_wanted: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export_jobs, "export_study", full)
    answer = desk.post(url("export", cast.study.slug), {"tier": "controlled"}, follow=True)
    assert answer.status_code == 200
    assert answer.content.decode().count("The disk is full") == 2  # said now, and in the list


def test_a_stale_export_is_not_given_out(desk: Any, cast: Cast) -> None:
    slug = cast.study.slug
    desk.post(url("export", slug), {"tier": "controlled"})
    job = ExportJob.objects.get()
    withdraw(participant=cast.participant, erase_answers=True)
    page = desk.get(url("exports", slug)).content.decode()
    assert "out of date" in page
    assert url("export_file", slug, job.code) not in page
    answer = desk.get(url("export_file", slug, job.code), follow=True)
    assert "erased since" in answer.content.decode()


def test_fetching_what_somebody_else_made_is_a_look(client: Any, cast: Cast) -> None:
    """The maker's own fetching is none: making it was."""
    job = job_of(cast.study, user=cast.researcher)
    run(job_id=job.pk)
    before = len(looks_of(cast.study))
    for who, more in ((cast.researcher, 0), (cast.colleague, 1)):
        client.force_login(who)
        assert client.get(url("export_file", cast.study.slug, job.code)).status_code == 200
        assert len(looks_of(cast.study)) == before + more
    look = looks_of(cast.study)[0]
    assert (look.action, look.actor, look.detail["status"]) == ("export.fetched", cast.colleague, "open")
    assert isinstance(look.detail["n"], int)


def test_who_sees_makes_and_fetches_what(client: Any, cast: Cast) -> None:
    Study.objects.update(status="closed")
    slug = cast.study.slug
    inner, outer = (job_of(cast.study, tier=tier) for tier in ("internal", "controlled"))
    for job in (inner, outer):
        run(job_id=job.pk)
    for who, sees_inner, sees_outer in (
        (cast.researcher, True, True),
        (cast.colleague, False, True),
        (cast.stranger, False, False),
        (cast.reviewer, False, False),
        (cast.annotator.user, False, False),
        (None, False, False),
    ):
        client.logout()
        if who is not None:
            client.force_login(who)
        for job, sees in ((inner, sees_inner), (outer, sees_outer)):
            code = client.get(url("export_file", slug, job.code)).status_code
            assert (code == 200) == sees, who
            assert code in (200, 404, 302)
            stopped = client.post(url("export_stop", slug, job.code))
            assert (stopped.status_code == 302 and "login" not in stopped["Location"]) == sees, who
        page = client.get(url("exports", slug))
        assert (page.status_code == 200) == sees_outer
        if sees_outer:
            assert (url("export_file", slug, inner.code) in page.content.decode()) == sees_inner
    other = factories.StudyFactory(slug="other")
    client.force_login(factories.UserFactory(is_staff=True, is_superuser=True))
    assert client.get(url("export_file", other.slug, outer.code)).status_code == 404

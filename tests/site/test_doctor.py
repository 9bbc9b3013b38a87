"""The doctor says what is wrong and what to set, for every fault made here, and waits for nobody long."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import time_machine
from django.core.management import call_command
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from annotation.tasks import sweep_leases
from dialogues.models import ProcessingJob
from tests import factories
from tests.site.test_deployment import free_port, stop
from tests.site.test_proxy import NGINX, configured
from turingsite import heartbeat
from turingsite.doctor import asking, examine, outside, probe
from turingsite.doctor.findings import Finding, Level

pytestmark = pytest.mark.django_db
NOBODY = "http://127.0.0.1:9"  # the discard port: nothing listens there


@pytest.fixture(autouse=True)
def place(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.PUBLIC_URL = ""


def found(check: str, **options: Any) -> list[Finding]:
    return [one for one in examine(**options) if one.check == check]


def levels(check: str, **options: Any) -> list[str]:
    return [one.level.value for one in found(check, **options)]


def command(*words: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("doctor", *words, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


class Site(NamedTuple):
    """A small server that answers every request as told."""

    url: str
    seen: list[tuple[str, str]]


@pytest.fixture
def answering() -> Iterator[Callable[..., Site]]:
    servers = []

    def start(status: int = 200, headers: dict[str, str] | None = None, wait: float = 0) -> Site:
        seen: list[tuple[str, str]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append((self.command, self.path))
                time.sleep(wait)
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value.replace("SELF", site.url))
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        site = Site(f"http://127.0.0.1:{server.server_port}", seen)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return site

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.both
def test_a_healthy_site_has_no_error_but_its_absent_workers(settings: Any, database_vendor: str) -> None:
    heartbeat.beat()
    every = examine()
    wrong = [one for one in every if one.level == Level.ERROR]
    assert {one.check for one in wrong} == {"worker"}
    assert {one.given["queue"] for one in wrong} >= {"default", "audio"}
    checks = {one.check for one in every}
    assert {"database", "migrations", "redis", "beat", "disk", "static", "texts", "media"} <= checks
    assert ("clock" in checks) == (database_vendor == "postgresql")
    for one in every:
        assert one.text
        assert "%(" not in one.text + one.advice
        assert one.advice or one.level in (Level.OK, Level.NOTE), one


def test_command_for_people_and_for_programs(settings: Any) -> None:
    settings.REDIS_URL = ""
    heartbeat.beat()
    code, text = command()
    assert code == 0, text
    assert "✓ database" in text
    assert "· redis" in text
    assert text.splitlines()[-1].startswith("Errors: 0.")
    for language in ("en", "zh"):
        code, text = command("--json", "--language", language)
        body = json.loads(text)
        assert (code, body["errors"]) == (0, 0)
        assert set(body["findings"][0]) == {"check", "level", "says", "do"}
    code, text = command("--json", "--here")
    assert "media" not in {one["check"] for one in json.loads(text)["findings"]}


def test_exit_code_tells_of_errors(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    heartbeat.beat()
    code, text = command("--here")
    assert code == 1
    assert "✕ redis" in text
    assert "→" in text


def test_database_that_does_not_answer_is_told_and_nothing_else_is_asked_of_it(monkeypatch) -> None:
    from django.db import OperationalError, connection

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("no")

    monkeypatch.setattr(connection, "cursor", refuse)
    every = examine(ask=False)
    assert [one.level for one in every if one.check == "database"] == [Level.ERROR]
    assert not {"jobs", "clock", "migrations"} & {one.check for one in every}


def test_database_that_is_gone_is_not_waited_for(monkeypatch, database_vendor: str) -> None:
    from django.db import connection

    if database_vendor != "postgresql":
        pytest.skip("a file is there or not")
    monkeypatch.setitem(connection.settings_dict, "PORT", 9)
    start = time.monotonic()
    assert levels("database", ask=False) == ["error"]
    assert time.monotonic() - start < 5


@pytest.mark.both
def test_batches_that_no_sweep_took_back_are_told() -> None:
    late = timezone.now() - timedelta(minutes=11)
    factories.BatchFactory(lease_until=late, state="finished", finished_at=late)
    assert levels("batches", ask=False) == ["ok"]
    factories.BatchFactory(lease_until=late, state="open")
    [one] = found("batches", ask=False)
    assert (one.level, one.given["n"]) == (Level.WARNING, 1)
    sweep_leases()
    assert levels("batches", ask=False) == ["ok"]


@pytest.mark.both
def test_missing_migrations_are_counted() -> None:
    MigrationRecorder.Migration.objects.filter(app="speech").order_by("-pk")[:1].get().delete()
    [one] = found("migrations", ask=False)
    assert (one.level, one.given["n"]) == (Level.ERROR, 1)
    assert "migrate" in one.advice


def test_clocks_apart_are_told(database_vendor: str) -> None:
    if database_vendor != "postgresql":
        pytest.skip("SQLite has no clock of its own")
    assert levels("clock", ask=False) == ["ok"]
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        [one] = found("clock", ask=False)
    assert one.level == Level.WARNING
    assert 299 < float(one.given["skew"]) < 310


@pytest.mark.both
def test_old_jobs_are_told_new_ones_only_noted() -> None:
    job = ProcessingJob.objects.create(dialogue=factories.DialogueFactory(), state="running")
    assert "note" in levels("jobs", ask=False)
    ProcessingJob.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(hours=5))
    [old] = [one for one in found("jobs", ask=False) if one.level == Level.WARNING]
    assert "1 wait or run, the oldest for 5.0 h" in old.text


def test_heartbeat_comes_grows_old_and_was_never_there(settings: Any) -> None:
    assert levels("beat", ask=False) == ["error"]
    heartbeat.beat()
    assert levels("beat", ask=False) == ["ok"]
    with time_machine.travel(timezone.now() + timedelta(minutes=10), tick=False):
        [one] = found("beat", ask=False)
    assert (one.level, one.given["n"]) == (Level.ERROR, 10)
    settings.EMBEDDED_WORKER = True
    heartbeat.path().unlink()
    [one] = found("beat", ask=False)
    assert one.level == Level.WARNING
    assert "manage.py serve" in one.advice


@pytest.mark.parametrize(("free", "level"), [(0.5, "error"), (3.0, "warning"), (50.0, "ok")])
def test_disk(monkeypatch, free: float, level: str) -> None:
    usage = type("Usage", (), {"free": int(free * 1e9), "total": 100 * 10**9})()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    assert levels("disk", ask=False) == [level]


def test_static_files_texts_fonts_and_secret(monkeypatch, tmp_path: Path) -> None:
    from turingsite.doctor import machine

    def missing(name: str) -> str:
        raise ValueError("no manifest")

    assert levels("fonts", ask=False) == ["ok"]
    monkeypatch.setattr("turingsite.doctor.machine.staticfiles_storage.url", missing)
    monkeypatch.setattr(machine, "draws_chinese", lambda: False)
    monkeypatch.setattr(machine, "KNOWN", ("a text nobody translated", "zh-hans"))
    (tmp_path / "secret_key").write_text("x" * 64)
    (tmp_path / "secret_key").chmod(0o644)
    every = {one.check: one.level for one in examine(ask=False)}
    assert (every["static"], every["texts"]) == (Level.ERROR, Level.ERROR)
    assert (every["fonts"], every["secret"]) == (Level.NOTE, Level.ERROR)
    (tmp_path / "secret_key").chmod(0o600)
    assert levels("secret", ask=False) == ["ok"]


def test_hosts_and_origins_of_the_public_address(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["other.example.org"]
    settings.PUBLIC_URL = "https://study.example.org"
    assert levels("hosts", ask=False) == ["error"]
    settings.ALLOWED_HOSTS = ["study.example.org"]
    settings.CSRF_TRUSTED_ORIGINS = []
    assert levels("origins", ask=False) == ["warning"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://study.example.org"]
    assert levels("origins", ask=False) == ["ok"]


@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (502, {}, "does not reach the web process"),
        (400, {}, "passes on another host"),
        (200, {}, "Something else"),
        (404, {"X-Request-ID": "12345678"}, "Something else"),
        (301, {"Location": "SELF/health/live", "X-Request-ID": "12345678"}, "Something else"),
    ],
)
def test_proxy_that_leads_elsewhere(answering: Any, status: int, headers: dict[str, str], words: str) -> None:
    [one] = list(outside.proxy(answering(status, headers).url))
    assert one.level == Level.ERROR
    assert words in one.text


def test_proxy_that_keeps_https_to_itself(answering: Any, monkeypatch) -> None:
    """The health page is exempt from the redirect; the front page leads to itself for ever."""
    loop = asking.Answer(301, {"Location": "https://study.example.org/", "X-Request-ID": "12345678"})
    alive = asking.Answer(200, {"X-Request-ID": "12345678"})
    monkeypatch.setattr(outside, "ask", lambda address, **more: alive if "health" in address else loop)
    [one] = list(outside.proxy("https://study.example.org"))
    assert one.level == Level.ERROR
    assert "X-Forwarded-Proto" in one.advice


def test_world_that_cannot_be_reached_is_a_warning(answering: Any, monkeypatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.5)
    slow = answering(wait=5).url
    for address in (NOBODY, slow, "http://no-such-host.invalid"):
        start = time.monotonic()
        assert [one.level for one in outside.proxy(address)] == [Level.WARNING]
        assert [one.level for one in outside.ranges(address)] == [Level.WARNING]
        assert time.monotonic() - start < 5


@pytest.mark.parametrize("status", [200, 204, 302, 405])
def test_return_links_that_answer(answering: Any, status: int) -> None:
    panel = answering(status)
    study = factories.StudyFactory()
    link = f"{panel.url}/submissions/complete?cc=ABC&pid={{PROLIFIC_PID}}"
    factories.CompletionFactory(study=study, link=link)
    assert levels("completion") == ["ok"]
    assert panel.seen == [("HEAD", "/submissions/complete?cc=ABC&pid=doctor")]


def test_return_links_that_do_not(answering: Any, monkeypatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.5)
    study, draft = factories.StudyFactory(slug="open"), factories.StudyFactory(slug="later", status="draft")
    links = [answering(404).url, answering(wait=5).url, NOBODY, "https://no-such-host.invalid/x"]
    ends = ["done", "screened_out", "failed_check", "technical"]
    for end, link in zip(ends, links, strict=True):
        factories.CompletionFactory(study=study, end_state=end, link=link + "/?cc=SECRETCODE")
    factories.CompletionFactory(study=draft, link=NOBODY + "/draft")
    start = time.monotonic()
    every = found("completion")
    assert [one.level for one in every] == [Level.WARNING] * 4
    assert {one.given["study"] for one in every} == {"open"}
    assert "answers 404" in every[0].text
    assert not [one for one in every if "SECRETCODE" in one.text], "a code is money"
    assert time.monotonic() - start < 10


def test_parts_of_sounds_here_and_through_the_proxys_place(settings: Any, tmp_path: Path) -> None:
    assert levels("media") == ["ok"]
    assert list((tmp_path / "media" / probe.FOLDER).iterdir()) == [], "the probe is removed"
    settings.MEDIA_X_ACCEL = "/protected/"
    assert levels("media") == ["note"]
    settings.MEDIA_X_ACCEL = ""
    settings.MEDIA_ROOT = tmp_path / "file"
    (tmp_path / "file").write_text("not a folder")
    assert levels("media") == ["error"]


def test_probe_is_reached_with_a_fresh_token_only(client: Client, settings: Any, tmp_path: Path) -> None:
    folder = tmp_path / "media" / probe.FOLDER
    folder.mkdir(parents=True)
    (folder / "name").write_bytes(b"sound")
    address = f"/health/range/{probe.token('name')}"
    assert client.get(address).content == b"sound"
    assert client.get("/health/range/name").status_code == 404
    assert client.get(f"/health/range/{probe.token('other')}").status_code == 404
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        assert client.get(address).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_whole_site_from_outside(live_server: Any, settings: Any, tmp_path: Path) -> None:
    """The real application, plain and behind the real proxy; then a proxy that does not see the files."""
    address = live_server.url.replace("localhost", "127.0.0.1")
    assert [one.level for one in outside.proxy(address)] == [Level.OK]
    assert [one.level for one in outside.ranges(address)] == [Level.OK]
    if NGINX is None:
        pytest.skip("nginx is not installed")
    settings.MEDIA_X_ACCEL = "/protected/"
    with proxied(tmp_path, address) as proxy:
        assert [one.level for one in outside.proxy(proxy)] == [Level.OK]
        assert [one.level for one in outside.ranges(proxy)] == [Level.OK]
        assert [one.level for one in outside.live(proxy)] == [Level.OK]
        settings.MEDIA_ROOT = tmp_path / "elsewhere"
        [one] = list(outside.ranges(proxy))
        assert (one.level, one.given["n"]) == (Level.ERROR, 404)
    with proxied(tmp_path / "alone", NOBODY) as proxy:
        assert "does not reach the web process" in next(iter(outside.proxy(proxy))).text


@contextmanager
def proxied(folder: Path, application: str) -> Iterator[str]:
    """The project's nginx in front of that address; where it listens."""
    folder.mkdir(exist_ok=True)
    port = free_port()
    main = configured(folder, port, application)
    process = subprocess.Popen([NGINX or "nginx", "-e", str(folder / "error.log"), "-c", str(main)])
    proxy = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            if asking.ask(f"{proxy}/health/proxy").status == 200:
                break
            time.sleep(0.1)
        yield proxy
    finally:
        stop(process)


def test_page_for_operators(client: Client, cast: Any) -> None:
    assert client.get("/admin/state/").status_code == 302
    for user in (cast.researcher, cast.colleague, cast.reviewer, cast.stranger):
        client.force_login(user)
        assert client.get("/admin/state/").status_code == 404
        assert client.post("/admin/state/").status_code == 404
        assert "/admin/state/" not in client.get("/admin/").content.decode()
    client.force_login(factories.UserFactory(is_superuser=True, is_staff=True))
    assert "/admin/state/" in client.get("/admin/").content.decode()
    page = client.get("/admin/state/")
    assert page.status_code == 200
    assert "database" in page.content.decode()
    assert not page.context["asked"]
    order = [row.level for row in page.context["rows"]]
    assert order == sorted(order, key=[Level.ERROR, Level.WARNING, Level.NOTE, Level.OK].index)
    asked = client.post("/admin/state/")
    assert {"worker", "media"} <= {row.check for row in asked.context["rows"]}

"""The files of a real deployment agree with the code, and its commands run on real PostgreSQL and Redis."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from django.conf import settings as django_settings
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}


def words(name: str) -> list[str]:
    return list(SERVICES[name]["command"])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def production(tmp_path, transactional_db) -> dict[str, str]:
    """Environment of a production process on this test's database."""
    database = connection.settings_dict
    host = f"{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
    return {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "turingsite.settings.production",
        "SECRET_KEY": "k3J9x-Qm2Zp7_Ws8Lr4Tv1Yb6Nc5Hd0GfAe",
        "ALLOWED_HOSTS": "study.example.org",
        "CSRF_TRUSTED_ORIGINS": "https://study.example.org",
        "DATABASE_URL": f"postgres://{host}/{database['NAME']}",
        "REDIS_URL": os.environ["REDIS_URL"],
        "VAR_DIR": str(tmp_path),
        "BIND": f"127.0.0.1:{free_port()}",
    }


def run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    program, *rest = command
    return subprocess.run(
        [str(BIN / program), *rest], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


def started(command: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    program, *rest = command
    with log.open("wb") as output:
        return subprocess.Popen(
            [str(BIN / program), *rest], cwd=ROOT, env=environment, stdout=output, stderr=output
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def test_every_service_of_ours_runs_a_program_that_exists() -> None:
    assert set(OURS) == {"migrate", "web", "worker", "beat"}
    for name in OURS:
        assert (BIN / words(name)[0]).exists(), name


def test_image_and_compose_agree_on_the_web_command() -> None:
    line = re.search(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert line is not None
    assert yaml.safe_load(line[1]) == words("web")


def test_every_file_and_volume_named_exists() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (ROOT / source).exists() if source.startswith("./") else source in COMPOSE["volumes"]
        for word in [*service.get("command", []), *service.get("healthcheck", {}).get("test", [])]:
            if word.startswith("deploy/"):
                assert (ROOT / word).is_file()


def test_services_that_others_wait_for_have_a_health_check() -> None:
    for service in SERVICES.values():
        for name, wanted in service.get("depends_on", {}).items():
            if wanted["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[name]


def test_worker_takes_every_queue() -> None:
    command = words("worker")
    taken = set(command[command.index("--queues") + 1].split(","))
    routed = {route["queue"] for route in django_settings.CELERY_TASK_ROUTES.values()}
    assert taken == routed | {django_settings.CELERY_TASK_DEFAULT_QUEUE}


def test_example_environment_names_what_compose_requires() -> None:
    required = set(re.findall(r"\$\{(\w+):\?", (ROOT / "docker-compose.yml").read_text()))
    example = (ROOT / "deploy/env.example").read_text()
    assert required == set(re.findall(r"^(\w+)=", example, re.MULTILINE)) - {"PUBLIC_URL"}


def test_proxy_serves_media_under_the_location_the_application_names() -> None:
    location = OURS["web"]["environment"]["MEDIA_X_ACCEL"]
    proxy = (ROOT / "deploy/nginx.conf").read_text()
    assert re.search(rf"location {location} {{\s+internal;", proxy)
    assert f"alias {OURS['web']['volumes'][0].split(':')[1]}/media/;" in proxy


def test_production_refuses_to_start_without_its_secret(production) -> None:
    del production["SECRET_KEY"]
    result = run(["python", "manage.py", "check"], production)
    assert result.returncode != 0
    assert "SECRET_KEY" in result.stderr


def test_production_checks_pass(production) -> None:
    result = run(["python", "manage.py", "check", "--deploy", "--fail-level", "ERROR"], production)
    assert result.returncode == 0, result.stderr


def fetched(environment: dict[str, str], path: str) -> tuple[int, str]:
    """Status and text of a page, asked for as the proxy does."""
    connection = http.client.HTTPConnection(environment["BIND"], timeout=20)
    headers = {"Host": environment["ALLOWED_HOSTS"], "X-Forwarded-Proto": "https"}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_web_command_answers_on_real_postgresql(production, tmp_path) -> None:
    collected = run(["python", "manage.py", "collectstatic", "--noinput", "--verbosity", "0"], production)
    assert collected.returncode == 0, collected.stderr
    process = started(words("web"), production, tmp_path / "log")
    try:
        address = f"http://{production['BIND']}/health/ready"
        end = time.monotonic() + 30
        while (probe := run(["python", "deploy/probe.py", address], production)).returncode != 0:
            assert process.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < end, probe.stderr
        status, page = fetched(production, "/")
        assert status == 200, (tmp_path / "log").read_text()
        assets = re.findall(r"""(?:href|src)="(/static/[^"]+)""", page)
        assert assets
        for asset in assets:
            assert re.search(r"\.[0-9a-f]{12}\.\w+$", asset), f"{asset} may stay in caches for ever"
            assert fetched(production, asset)[0] == 200, asset
    finally:
        stop(process)


def test_worker_command_connects_to_real_redis_and_stops(production, tmp_path) -> None:
    log = tmp_path / "log"
    command = [*words("worker")[:-1], "INFO"]
    process = started(command, production, log)
    try:
        end = time.monotonic() + 30
        while "ready." not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
    finally:
        stop(process)
    assert process.returncode == 0

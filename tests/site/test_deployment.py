"""The files of a real deployment agree with the code, and its commands run on real PostgreSQL and Redis."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import check_jsonschema  # type: ignore[import-untyped]
import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml
from django.conf import settings as django_settings
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
WORKERS = [name for name in OURS if name.startswith("worker")]
ONCE = {"migrate"}  # runs to its end, so nothing asks for its health
SCHEMAS = Path(check_jsonschema.__file__).parent / "builtin_schemas" / "vendor"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


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


def interpolated(value: Any, environment: dict[str, str]) -> Any:
    """The file as Compose reads it: ${NAME}, ${NAME:-default}, ${NAME:?message}, $$ for one sign."""
    if isinstance(value, dict):
        return {key: interpolated(one, environment) for key, one in value.items()}
    if isinstance(value, list):
        return [interpolated(one, environment) for one in value]
    if not isinstance(value, str):
        return value

    def filled(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name, operator, rest = match[1], match[2], match[3]
        if operator == ":?" and not environment.get(name):
            raise KeyError(name)
        return environment.get(name) or (rest if operator == ":-" else "")

    return re.sub(r"\$\$|\$\{(\w+)(?:(:[-?])([^}]*))?\}", filled, value)


def example(comments: bool = False) -> dict[str, str]:
    """The variables of the example environment; with ``comments`` those in its comments, too."""
    text = (ROOT / "deploy/env.example").read_text()
    pattern = r"^(?:# )?(\w+)=(\S*)" if comments else r"^(\w+)=(\S*)"
    return dict(re.findall(pattern, text, re.MULTILINE))


def test_the_file_is_what_compose_calls_a_compose_file() -> None:
    filled = interpolated(COMPOSE, dict.fromkeys(example(), "value"))
    schema = json.loads((SCHEMAS / "compose-spec.json").read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    assert [error.message for error in validator.iter_errors(filled)] == []
    wrong = {**filled, "services": {"web": {"command": 3}}}
    assert list(validator.iter_errors(wrong)), "the schema checks nothing"


def test_the_file_names_what_it_needs_and_refuses_to_start_without() -> None:
    with pytest.raises(KeyError, match="SECRET_KEY"):
        interpolated(COMPOSE, dict.fromkeys(set(example()) - {"SECRET_KEY"}, "value"))


def test_every_service_of_ours_runs_a_program_that_exists() -> None:
    assert {"migrate", "web", "live", "worker", "agents", "beat"} <= set(OURS)
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


def test_every_service_that_stays_has_health_check_restart_time_to_stop_and_short_logs() -> None:
    for name, service in SERVICES.items():
        assert service["restart"], name
        assert service["logging"]["options"]["max-size"], name
        if name not in ONCE:
            assert service["healthcheck"]["test"], name
            assert service["stop_grace_period"], name


def test_services_wait_for_what_can_tell_that_it_is_there() -> None:
    for service in SERVICES.values():
        for name, wanted in service.get("depends_on", {}).items():
            if wanted["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[name]


def taken(name: str) -> set[str]:
    command = words(name)
    return set(command[command.index("--queues") + 1].split(","))


def test_every_queue_has_its_worker() -> None:
    routed = {route["queue"] for route in django_settings.CELERY_TASK_ROUTES.values()}
    queues = [queue for name in WORKERS for queue in taken(name)]
    assert routed | {django_settings.CELERY_TASK_DEFAULT_QUEUE} <= set(queues)
    assert len(queues) == len(set(queues)), "a queue of its own for each worker"


def test_exactly_one_service_sends_the_sweeps() -> None:
    assert [name for name in OURS if "beat" in words(name)] == ["beat"]
    assert "replicas" not in str(SERVICES["beat"])


def test_example_environment_names_what_compose_reads() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    required = set(re.findall(r"\$\{(\w+):\?", text))
    assert required == set(example()) - {"PUBLIC_URL"}
    assert set(re.findall(r"\$\{(\w+)", text)) <= set(example(comments=True))


def test_proxy_serves_media_under_the_location_the_application_names() -> None:
    location = OURS["web"]["environment"]["MEDIA_X_ACCEL"]
    proxy = (ROOT / "deploy/nginx.conf").read_text()
    assert re.search(rf"location {location} {{\s+internal;", proxy)
    assert f"alias {OURS['web']['volumes'][0].split(':')[1]}/media/;" in proxy


def test_proxy_passes_sockets_to_the_live_service_and_pages_to_web() -> None:
    proxy = (ROOT / "deploy/nginx.conf").read_text()
    sockets = re.search(r"location ~ \^/\(live\|ws\)/ \{(.*?)\n    \}", proxy, re.DOTALL)
    assert sockets is not None
    for line in ("proxy_pass $live;", "Upgrade $http_upgrade;", "Connection $connection_upgrade;"):
        assert line in sockets[1]
    port = next(word for word in words("live") if word.startswith("--port=")).removeprefix("--port=")
    assert f"set $live http://live:{port};" in proxy
    assert "set $web http://web:8000;" in proxy


def test_proxy_logs_no_address_of_a_client_and_nothing_they_asked_for() -> None:
    proxy = (ROOT / "deploy/nginx.conf").read_text()
    [form] = re.findall(r"log_format \w+ (.*?);", proxy, re.DOTALL)
    used = set(re.findall(r"\$(\w+)", form))
    assert used == {
        "time_iso8601",
        "request_method",
        "status",
        "body_bytes_sent",
        "request_time",
        "request_id",
    }
    assert re.search(r"error_log \S+ crit;", proxy)
    assert "X-Forwarded-For" not in proxy
    assert "X-Real-IP" not in proxy


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_takes_the_configuration_as_it_is(tmp_path: Path) -> None:
    main = tmp_path / "nginx.conf"
    folders = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{name}_temp_path {tmp_path}/{name};" for name in folders)
    site = ROOT / "deploy/nginx.conf"
    main.write_text(f"pid {tmp_path}/pid; events {{}} http {{ {paths} include {site}; }}")
    done = subprocess.run(
        [str(NGINX), "-t", "-e", f"{tmp_path}/log", "-c", str(main)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_production_refuses_to_start_without_its_secret(production) -> None:
    del production["SECRET_KEY"]
    result = run(["python", "manage.py", "check"], production)
    assert result.returncode != 0
    assert "SECRET_KEY" in result.stderr


def test_production_checks_pass(production) -> None:
    result = run(["python", "manage.py", "check", "--deploy", "--fail-level", "ERROR"], production)
    assert result.returncode == 0, result.stderr


def test_migrate_command_runs_and_may_run_again(production) -> None:
    result = run(words("migrate"), production)
    assert result.returncode == 0, result.stderr


def fetched(environment: dict[str, str], path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers of a page, asked for as the proxy does."""
    connection = http.client.HTTPConnection(environment["BIND"], timeout=20)
    sent = {"Host": environment["ALLOWED_HOSTS"], "X-Forwarded-Proto": "https", **headers}
    connection.request("GET", path, headers=sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, dict(answer.getheaders())


def health_of(name: str, environment: dict[str, str], changes: dict[str, str]) -> list[str]:
    """A service's health check as a command of this machine: other addresses and files, nothing else."""
    how, *test = SERVICES[name]["healthcheck"]["test"]
    line = " ".join(test)
    for old, new in changes.items():
        assert old in line, line
        line = line.replace(old, new)
    assert how in {"CMD", "CMD-SHELL"}
    return line.split()


def wait_for(
    check: Callable[[], subprocess.CompletedProcess[str]],
    process: subprocess.Popen[bytes],
    log: Path,
    seconds: float = 60,
) -> None:
    """Ask until the health check is content, as Compose does."""
    end = time.monotonic() + seconds
    while (found := check()).returncode != 0:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, found.stderr + found.stdout + log.read_text()
        time.sleep(0.2)


def collect_static(environment: dict[str, str]) -> None:
    done = run(["python", "manage.py", "collectstatic", "--noinput", "--verbosity", "0"], environment)
    assert done.returncode == 0, done.stderr


def test_web_command_answers_on_real_postgresql(production, tmp_path) -> None:
    """One test of all that the web service does, because starting it takes the time."""
    production["METRICS_TOKEN"] = "a token that is long enough"
    production["LOG_FORMAT"] = "json"
    collect_static(production)
    log = tmp_path / "log"
    process = started(words("web"), production, log)
    health = health_of("web", production, {"127.0.0.1:8000": production["BIND"]})
    try:
        wait_for(lambda: run(health, production), process, log)
        status, page, _headers = fetched(production, "/")
        assert status == 200, log.read_text()
        assets = re.findall(r"""(?:href|src)="(/static/[^"]+)""", page)
        assert assets
        for asset in assets:
            assert re.search(r"\.[0-9a-f]{12}\.\w+$", asset), f"{asset} may stay in caches for ever"
            assert fetched(production, asset)[0] == 200, asset
        for _ in range(20):
            assert fetched(production, "/")[0] == 200
        assert fetched(production, "/metrics")[0] == 401
        token = f"Bearer {production['METRICS_TOKEN']}"
        status, figures, _headers = fetched(production, "/metrics", Authorization=token)
        assert status == 200
        # Whichever process answers knows of the requests of all of them.
        [count] = re.findall(
            r'^turingsite_request_seconds_count\{method="GET",status="200",view="home"\} (\S+)',
            figures,
            re.MULTILINE,
        )
        assert float(count) == 21
        assert re.search(r'^turingsite_studies\{status="open"\} 0', figures, re.MULTILINE)
        _status, _page, headers = fetched(production, "/", **{"X-Request-ID": "from-the-proxy-1"})
        assert headers["X-Request-ID"] == "from-the-proxy-1"
    finally:
        stop(process)
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    mine = [line for line in lines if line.get("request") == "from-the-proxy-1"]
    assert [(line["event"], line["route"], line["status"]) for line in mine] == [("request", "home", "200")]


def test_live_command_answers_on_real_postgresql(production, tmp_path) -> None:
    collect_static(production)
    log = tmp_path / "log"
    host, port = production["BIND"].split(":")
    command = [
        {"--host=0.0.0.0": f"--host={host}", "--port=8001": f"--port={port}"}.get(word, word)
        for word in words("live")
    ]
    assert command != words("live")
    process = started(command, production, log)
    health = health_of("live", production, {"127.0.0.1:8001": production["BIND"]})
    try:
        wait_for(lambda: run(health, production), process, log)
        assert fetched(production, "/")[0] == 200
    finally:
        stop(process)
    assert process.returncode in (0, -signal.SIGTERM), log.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKERS)
def test_worker_command_answers_its_health_check_and_stops(production, tmp_path, name: str) -> None:
    log = tmp_path / "log"
    node = f"{name}@test-{os.getpid()}"
    command = [*words(name), "--hostname", node]
    process = started(command, production, log)
    health = health_of(name, production, {"celery@$$HOSTNAME": node})
    try:
        wait_for(lambda: run(health, production), process, log)
        queues = run(
            ["celery", "-A", "turingsite.celery", "inspect", "active_queues", "-d", node, "-j"], production
        )
        [found] = json.loads(queues.stdout.splitlines()[-1]).values()
        assert {queue["name"] for queue in found} == taken(name)
    finally:
        stop(process)
    assert process.returncode == 0, log.read_text()


@pytest.mark.slow
def test_agents_command_answers_its_health_check_and_stops(production, tmp_path) -> None:
    log, sign = tmp_path / "log", tmp_path / "heartbeat-agents"
    health = health_of("agents", production, {"/var/lib/turingsite/heartbeat-agents": str(sign)})
    assert run(health, production).returncode == 1, "healthy before it runs"
    process = started(words("agents"), production, log)
    try:
        wait_for(lambda: run(health, production), process, log)
    finally:
        stop(process)
    assert process.returncode == 0, log.read_text()


@pytest.mark.slow
def test_beat_command_sends_the_sweeps_to_a_worker_and_answers_its_health_check(production, tmp_path) -> None:
    log, schedule, heartbeat = tmp_path / "log", tmp_path / "beat", tmp_path / "heartbeat"
    command = [str(schedule) if word == "/tmp/beat" else word for word in words("beat")]
    assert command != words("beat")
    health = health_of("beat", production, {"/tmp/beat": str(schedule)})
    assert run(health, production).returncode == 1, "healthy before it runs"
    node = f"worker@beat-{os.getpid()}"
    worker = started([*words("worker"), "--hostname", node], production, tmp_path / "worker")
    process = started(command, production, log)
    try:
        wait_for(lambda: run(health, production), process, log)
        end = time.monotonic() + 90
        while not heartbeat.exists():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text() + (tmp_path / "worker").read_text()
            time.sleep(0.5)
        doctor = run(["python", "manage.py", "doctor", "--json"], production)
        told = {
            one["check"] + one["says"].partition(" has no")[0].partition(":")[0]: one["level"]
            for one in json.loads(doctor.stdout)["findings"]
            if one["check"] in ("worker", "beat", "redis")
        }
        assert told["workerQueue default"] == "ok", doctor.stdout
        assert told["workerQueue audio"] == "error", doctor.stdout
        assert [level for name, level in told.items() if name.startswith(("beat", "redis"))] == ["ok", "ok"]
        assert doctor.returncode == 1
    finally:
        stop(process)
        stop(worker)
    old = time.time() - 1000
    for file in tmp_path.glob("beat*"):
        os.utime(file, (old, old))
    assert run(health, production).returncode == 1, "healthy though it has stopped"

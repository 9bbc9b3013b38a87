"""The web process is killed in the middle of a round: what was answered is stored, and everybody goes on."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bench import verdict as players

ROOT = Path(__file__).resolve().parents[2]
PEOPLE, ANSWERED_BEFORE = 16, 4


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "turingsite.settings.embedded",
        "VAR_DIR": str(tmp_path / "var"),
    }


def output_of(environment: dict[str, str], *words: str) -> str:
    command = [sys.executable, "-W", "ignore", *words]
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def serve(environment: dict[str, str], log: Path) -> tuple[subprocess.Popen[bytes], int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    with log.open("ab") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=file, stderr=file)
    end = time.monotonic() + 60
    while True:
        try:
            if ask(port, "GET", "/health/ready", "")[0] == 200:
                return process, port
        except OSError:
            pass
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.1)


def ask(port: int, method: str, path: str, cookie: str) -> tuple[int, dict]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = players.headers(cookie) if cookie else {}
    try:
        connection.request(method, path, players.body() if method == "POST" else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_killed_web_process_loses_no_answer_and_everybody_goes_on(environment, tmp_path: Path) -> None:
    people = json.loads(output_of(environment, "-m", "bench.verdict", "prepare", str(PEOPLE)))
    trials = f"/s/{players.SLUG}/speech/trial/"
    process, port = serve(environment, tmp_path / "log")
    answered: set[str] = set()
    enough = threading.Event()

    def answer(person: dict[str, str], wait: bool) -> None:
        if wait:
            enough.wait(60)
        try:
            status, _ = ask(port, "POST", f"{trials}{person['code']}/verdict/", person["cookie"])
        except (OSError, http.client.HTTPException):
            return  # the process was gone
        if status == 200:
            answered.add(person["code"])

    def kill() -> None:
        enough.wait(60)
        time.sleep(0.01)  # the other answers are on their way
        process.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    for person in people[:ANSWERED_BEFORE]:
        answer(person, wait=False)
    late = [threading.Thread(target=answer, args=(person, True)) for person in people[ANSWERED_BEFORE:]]
    for thread in late:
        thread.start()
    enough.set()
    for thread in [*late, killer]:
        thread.join()
    assert process.wait(30) == -signal.SIGKILL
    assert ANSWERED_BEFORE <= len(answered) < PEOPLE

    rows, _ = json.loads(output_of(environment, "-m", "bench.verdict", "stored"))
    assert rows >= len(answered)
    process, port = serve(environment, tmp_path / "log")
    try:
        for person in people:
            status, place = ask(port, "GET", trials, person["cookie"])
            assert (status, place["trial"]["code"]) == (200, person["code"])
            status, _ = ask(port, "POST", f"{trials}{person['code']}/verdict/", person["cookie"])
            assert status == 200
            status, place = ask(port, "POST", f"{trials}{person['code']}/next/", person["cookie"])
            assert status == 200
            assert place.get("trial", {}).get("code") != person["code"]  # the next one, or a content check
    finally:
        process.terminate()
        process.wait(30)
    assert json.loads(output_of(environment, "-m", "bench.verdict", "stored")) == [PEOPLE, PEOPLE]

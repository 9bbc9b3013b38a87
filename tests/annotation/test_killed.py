"""The web process is killed in the middle of a batch: every stored score is there, everybody goes on."""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bench import annotation as bench
from bench.annotation import Rater, Save, saves
from bench.verdict import headers
from tests.site.test_killed import output_of, serve

PEOPLE, SAVED_BEFORE = 8, 20


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "turingsite.settings.embedded",
        "VAR_DIR": str(tmp_path / "var"),
    }


def ask(port: int, method: str, path: str, cookie: str, body: bytes | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, headers(cookie))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@pytest.mark.slow
def test_killed_web_process_loses_no_score_and_everybody_goes_on(environment, tmp_path: Path) -> None:
    people = [
        Rater(**one)
        for one in json.loads(output_of(environment, "-m", "bench.annotation", "prepare", str(PEOPLE)))
    ]
    process, port = serve(environment, tmp_path / "log")
    stored: set[tuple[str, str]] = set()
    enough = threading.Event()

    def score(rater: Rater) -> None:
        for number, save in enumerate(saves(rater)):
            try:
                status, _ = ask(port, "POST", save.path, save.cookie, save.body)
            except (OSError, http.client.HTTPException):
                return  # the process was gone
            if status == 200:
                stored.add((rater.code, rater.keys[number]))
            if len(stored) >= SAVED_BEFORE:
                enough.set()

    def kill() -> None:
        enough.wait(60)
        time.sleep(0.01)  # others are on their way
        process.send_signal(signal.SIGKILL)

    threads = [threading.Thread(target=score, args=(rater,)) for rater in people]
    threads.append(threading.Thread(target=kill))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert process.wait(30) == -signal.SIGKILL
    assert SAVED_BEFORE <= len(stored) < PEOPLE * len(people[0].keys)

    process, port = serve(environment, tmp_path / "log")
    try:
        for rater in people:
            status, place = ask(port, "GET", f"/s/{bench.SLUG}/annotation/batch/", rater.cookie)
            assert (status, place["item"]["code"]) == (200, rater.code)
            there = place["item"]["scores"]
            assert {key for code, key in stored if code == rater.code} <= set(there)
            for number, key in enumerate(rater.keys):
                assert there.get(key, {"value": number % 6})["value"] == number % 6
            for save in saves(rater):  # the page sends again what it is not sure of
                assert ask(port, "POST", save.path, save.cookie, save.body)[0] == 200
            assert finished(port, rater)
    finally:
        process.terminate()
        process.wait(30)
    every = PEOPLE * len(people[0].keys)
    assert json.loads(output_of(environment, "-m", "bench.annotation", "stored")) == [every, PEOPLE]


def finished(port: int, rater: Rater) -> bool:
    choice = json.dumps({"choice": {"value": "human", "confidence": 3, "version": 0}}).encode()
    last = Save(rater.address(), rater.cookie, choice)
    assert ask(port, "POST", last.path, last.cookie, last.body)[1]["complete"]
    status, place = ask(port, "POST", rater.address("next"), rater.cookie, b"{}")
    return status == 200 and place["item"]["position"] == 2

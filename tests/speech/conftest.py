"""People at a speech game: a browser with the participant's cookie, and a clock that moves when told."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import signing
from django.test import Client

from games.speech.models import Trial
from studies import access
from studies.models import Participant, Study
from tests import factories
from tests.clock import Clock


class Person:
    """A participant with a browser: pages as they come, requests as the player sends them."""

    def __init__(self, participant: Participant, clock: Clock | None = None) -> None:
        self.participant = participant
        self.clock = clock
        self.slug = participant.study.slug
        self.client = Client()
        key = signing.dumps(participant.resume_code, salt=f"{access.SALT}.{self.slug}")
        self.client.cookies[access.cookie_name(self.slug)] = key

    def url(self, path: str = "") -> str:
        return f"/s/{self.slug}/speech/{path}"

    def get(self, path: str = "", **headers: Any) -> Any:
        return self.client.get(self.url(path), **headers)

    def state(self) -> dict[str, Any]:
        """What the trial address says as JSON."""
        answer = self.client.get(self.url("trial/"), {"format": "json"})
        assert answer.status_code == 200, answer.content[:500]
        return dict(answer.json())

    def trial(self) -> dict[str, Any]:
        return dict(self.state()["trial"])

    def post(self, path: str, **data: Any) -> Any:
        return self.client.post(self.url(path), data, content_type="application/json")

    def form(self, path: str, **data: Any) -> Any:
        return self.client.post(self.url(path), data)

    def listen(self, trial: dict[str, Any], *, seconds: float | None = None, ended: bool = True) -> Any:
        """Hear the trial from the start for ``seconds`` (all of it), then report."""
        seconds = trial["length"] if seconds is None else seconds
        if self.clock:
            self.clock.pass_(seconds)
        return self.post(f"trial/{trial['code']}/listening/", ranges=[[0, seconds]], plays=1, ended=ended)

    def answer(self, trial: dict[str, Any], choice: str = "human", **data: Any) -> Any:
        return self.post(f"trial/{trial['code']}/verdict/", choice=choice, at=1200, **data)

    def next(self, trial: dict[str, Any]) -> Any:
        return self.post(f"trial/{trial['code']}/next/")

    def judge(self, choice: str = "human") -> dict[str, Any]:
        """Hear and answer the current trial and go on; what the server says then."""
        trial = self.trial()
        self.listen(trial)
        assert self.answer(trial, choice).status_code == 200
        return dict(self.next(trial).json())

    def play_round(self, choices: str = "hhhhh") -> dict[str, Any]:
        """A round with these choices: h human, m machine, r right, w wrong. What the last ``next`` said."""
        said: dict[str, Any] = {}
        for letter in choices:
            state = self.state()
            if "trial" not in state:
                return state
            truth = str(Trial.objects.get(code=state["trial"]["code"]).dialogue.truth)
            other = "machine" if truth == "human" else "human"
            said = self.judge({"h": "human", "m": "machine", "r": truth, "w": other}[letter])
        return said


@pytest.fixture
def study(db: None) -> Study:
    return factories.speech_study()


@pytest.fixture
def person(study: Study, clock: Clock) -> Person:
    return Person(factories.ParticipantFactory(study=study), clock)


@pytest.fixture
def other(study: Study, clock: Clock) -> Person:
    return Person(factories.ParticipantFactory(study=study), clock)

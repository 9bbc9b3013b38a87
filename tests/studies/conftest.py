"""A study people can join, built the way the desk builds it, with one small activity instead of a game."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from studies import registry, services
from studies.models import Participant, Study
from studies.registry import Activity, DebriefRow

QUERY = "?PROLIFIC_PID=person-1&STUDY_ID=s&SESSION_ID=x"
PROFILE = {"age": "26-35", "gender": "prefer_not", "education": "phd", "familiarity": "often"}


@pytest.fixture
def activity(monkeypatch) -> SimpleNamespace:
    """State of the activity "listening": who has done enough, who is through, what keeps it from opening."""
    state = SimpleNamespace(enough=set(), complete=set(), problems=[])
    monkeypatch.setitem(
        registry.activities._items,
        "listening",
        Activity(
            key="listening",
            title="Listening",
            start_url_name="home",
            next_url=lambda participant: "/play/",
            is_complete=lambda participant: participant.pk in state.complete,
            is_enough=lambda participant: participant.pk in state.enough | state.complete,
            debrief_rows=lambda participant: [DebriefRow("Round 1, 1", "human", "machine", "a system")],
            ready=lambda study: list(state.problems),
        ),
    )
    return state


@pytest.fixture
def make_study(db, activity, django_user_model):
    def make(slug: str = "listen", *, status: str = Study.Status.OPEN, **fields: Any) -> Study:
        study = services.create_study(
            slug=slug,
            title_en="Short conversations",
            title_zh="听对话",
            user=None,
            **{"activities": ["listening"], "host": "A university", "contact": "study@example.org", **fields},
        )
        if status != Study.Status.DRAFT:
            services.change_status(
                study=study, to=Study.Status.OPEN if status != Study.Status.PILOT else status
            )
        if status != study.status:
            services.change_status(study=study, to=status)
        return study

    return make


@pytest.fixture
def study(make_study) -> Study:
    return make_study()


class Visitor:
    """A browser that walks the pages of one study."""

    def __init__(self, slug: str, **headers: str) -> None:
        self.slug = slug
        self.client = Client(headers=headers or None)

    def url(self, page: str = "") -> str:
        return f"/s/{self.slug}/{page}"

    def get(self, page: str = "", **extra: Any) -> Any:
        return self.client.get(self.url(page), **extra)

    def post(self, page: str, data: dict[str, Any] | None = None) -> Any:
        return self.client.post(self.url(page), data or {})

    def agree(self, query: str = "", **choices: str) -> Any:
        """Say yes to age and consent."""
        self.post(f"age/{query}", {"adult": "yes"})
        version = Study.objects.get(slug=self.slug).consent_texts.order_by("-version")[0].version
        return self.post("consent/", {"part": "on", "version": version, **choices})

    def arrive(self, query: str = "") -> Participant:
        """Walk to the activity: consent, language, profile."""
        self.agree(query)
        self.post("language/", {"language": "en"})
        self.post("q/profile/", PROFILE)
        return self.participant()

    def participant(self) -> Participant:
        from studies import access

        request = SimpleNamespace(
            COOKIES={name: morsel.value for name, morsel in self.client.cookies.items()}
        )
        held = access.held_by(request, self.slug)  # type: ignore[arg-type]
        assert held is not None
        return held


@pytest.fixture
def visitor(study) -> Visitor:
    return Visitor(study.slug)

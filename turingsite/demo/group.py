"""The demo of the group game: its study, and a few finished games that simulated people played."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from games.group.services.settings import change_group_settings
from studies import audit, codes
from studies import services as studies
from studies.models import AuditLine, Participant, Study
from studies.selectors import current_consent_text
from turingsite.demo import people, playing, seed, tables

HERE = Path(__file__).parent
PLAYED = "demo.games"  # the audit line after which no more is simulated


def study(user: Any) -> Study:
    """The study `demo-chat`, opened two weeks ago; one that is there stays as it is."""
    data: dict[str, Any] = yaml.safe_load((HERE / "group.yaml").read_text(encoding="utf-8"))
    found = Study.objects.filter(slug=data["slug"]).first()
    if found is not None:
        return found
    made = studies.create_study(
        slug=data["slug"],
        title_en=data["title"]["en"],
        title_zh=data["title"]["zh"],
        user=user,
        template="group",
        host=data["host"],
        contact=data["contact"],
        notice_en=data["notice"]["en"],
        notice_zh=data["notice"]["zh"],
        is_listed=True,
        test_participants=True,
        seed=data["seed"],
    )
    text = current_consent_text(made)
    assert text is not None  # noqa: S101  (every built-in study has one)
    studies.publish_consent_text(study=made, body=seed.adapted(text.body, data), user=user)
    change_group_settings(study=made, user=user, **data["settings"])
    return made


def opened(target: Study, user: Any, *, until: datetime) -> Study:
    if target.opened_at is not None:
        return target
    return studies.change_status(
        study=target, to=Study.Status.OPEN, user=user, now=until - timedelta(days=14)
    )


def games(target: Study, *, wanted: int, until: datetime, say: seed.Say) -> int:
    """Simulated people and the study's agent play ``wanted`` games, once; how many were played now."""
    if AuditLine.objects.filter(study=target, action=PLAYED).exists():
        return 0
    settings = target.group
    rng = random.Random(f"{target.seed}/games")
    begins = sorted(until - timedelta(days=rng.uniform(0.5, 12)) for _ in range(wanted))
    for number, at in enumerate(begins, 1):
        language = "zh" if number % 2 == 0 else "en"
        players = [_player(target, f"{number}/{place}", language, at) for place in range(settings.people)]
        tables.play(target, players, seed=f"{target.seed}/{number}", now=at + timedelta(seconds=200))
        say(f"  {number} of {wanted} games")
    audit.record(PLAYED, study=target, games=wanted)
    return wanted


def _player(target: Study, name: str, language: str, at: datetime) -> tuple[Participant, people.Person]:
    person = people.draw_person(random.Random(f"{target.seed}/{name}"))
    person.language, person.now = language, at
    code = "".join(person.rng.choices(codes.ALPHABET, k=10))
    found = target.participants.filter(code=code).first()  # a seeding was broken off
    return found or playing.join(target, person, code), person

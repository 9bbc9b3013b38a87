"""Make the demo: study, researcher, dialogues, simulated rounds. What is there already stays as it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db import connections

from dialogues import audits
from dialogues.importing.manifest import read_manifest
from dialogues.importing.services import create_batch, run_batch
from dialogues.models import Dialogue, ImportRow, Speaker, System
from dialogues.processing import services as processing
from studies import audit
from studies import services as studies
from studies.models import AuditLine, Study
from studies.selectors import current_consent_text
from turingsite.demo import people, playing, pool

HERE = Path(__file__).parent
LOGIN, PASSWORD = "researcher", "demo-researcher"  # printed at every start; the demo holds nothing private
PLAYED = "demo.played"  # the audit line after which no more is simulated
Say = Callable[[str], None]


def texts() -> dict[str, Any]:
    """What is different about the demo, as written in study.yaml."""
    data: dict[str, Any] = yaml.safe_load((HERE / "study.yaml").read_text(encoding="utf-8"))
    return data


def researcher() -> AbstractBaseUser:
    """The account for the desk. An existing one keeps its password."""
    users = get_user_model().objects
    user = users.filter(username=LOGIN).first()
    return user or users.create_user(LOGIN, password=PASSWORD, is_staff=True, is_superuser=True)


def study(user: Any) -> Study:
    """The study `demo`, still a draft when it is new: it opens once it has dialogues."""
    data = texts()
    found = Study.objects.filter(slug=data["slug"]).first()
    if found is not None:
        return found
    made = studies.create_study(
        slug=data["slug"],
        title_en=data["title"]["en"],
        title_zh=data["title"]["zh"],
        user=user,
        host=data["host"],
        contact=data["contact"],
        notice_en=data["notice"]["en"],
        notice_zh=data["notice"]["zh"],
        currency=data["currency"],
        is_listed=True,
        test_participants=True,
        seed=data["seed"],
    )
    text = current_consent_text(made)
    assert text is not None  # noqa: S101  (every built-in study has one)
    studies.publish_consent_text(study=made, body=adapted(text.body, data), user=user)
    return made


def opened(target: Study, user: Any, *, until: datetime) -> Study:
    """Open the study two weeks before ``until``, if it never was: the simulated people come after."""
    if target.opened_at is not None:
        return target
    _audited(target, user)
    return studies.change_status(
        study=target, to=Study.Status.OPEN, user=user, now=until - timedelta(days=14)
    )


def _audited(target: Study, user: Any) -> None:
    """Run the nuisance audit and answer its warnings: synthetic voices of different engines do differ."""
    if not audits.is_needed(target):
        return
    made = audits.ask(study=target, user=user)
    audits.run(audit_id=made.pk)
    made.refresh_from_db()
    words = texts()["audit_answer"]
    audits.answer(made=made, answers=dict.fromkeys(audits.unanswered(made), words), user=user)


def adapted(body: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """The built-in text with the demo's entries in place of those with the same label or heading."""
    adapted = {}
    for language, words in body.items():
        parts = dict(words)
        for part in ("summary", "sections", "debrief"):
            ours = dict(data[part][language])
            parts[part] = [[label, ours.pop(label, text)] for label, text in words[part]] + list(
                map(list, ours.items())
            )
        adapted[language] = parts
    return adapted


def systems() -> None:
    """The demo's systems, with the line that the reveal shows."""
    lines = texts()["systems_line"]
    known = yaml.safe_load((HERE / "dialogues.yaml").read_text(encoding="utf-8"))["systems"]
    for key, entry in known.items():
        fields = {"name": entry["name"]}
        System.objects.get_or_create(
            code=f"demo-{key}",
            defaults={
                "name": entry["name"],
                "role": entry["role"],
                "languages": ["en", "zh"],
                "line_en": lines[entry["role"]]["en"] % fields,
                "line_zh": lines[entry["role"]]["zh"] % fields,
            },
        )


def clips(target: Study, user: Any, say: Say) -> int:
    """Import the demo's dialogues into ``target`` as anybody would; how many of them are in it."""
    path = HERE / "audio" / "manifest.csv"
    batch = create_batch(
        name=path.name, manifest=read_manifest(path.read_bytes(), path.name), study=target, user=user
    )
    run_batch(batch_id=batch.pk, folders=[path.parent])
    for row in batch.rows.filter(state=ImportRow.State.REFUSED):
        say(f"  line {row.line}: {row.messages}")
    line = texts()["speaker_line"]
    Speaker.objects.filter(code__startswith="demo-", region="").update(
        region="synthetic voice", line_en=line["en"], line_zh=line["zh"]
    )
    return target.items.count()


def process(say: Say, *, workers: int | None = None) -> int:
    """Make the imported dialogues playable, on all processors; how many were worked at."""
    jobs = processing.waiting(limit=1000)
    workers = min(workers or os.cpu_count() or 1, len(jobs))
    if workers > 1:
        connections.close_all()
        pool.process(
            jobs, workers=workers, on_done=lambda n: say(f"  {n} of {len(jobs)}") if n % 20 == 0 else None
        )
    processing.run_waiting()  # what the pool left, or all of it where there is one processor
    return len(jobs)


def failures(target: Study) -> list[str]:
    """Dialogues of the study that could not be made playable, with the reason."""
    failed = Dialogue.objects.filter(study_items__study=target, state=Dialogue.State.FAILED)
    return [f"{dialogue.external_id}: {dialogue.trouble}" for dialogue in failed]


def rounds(target: Study, *, wanted: int, until: datetime, say: Say) -> int:
    """Simulated people play until ``wanted`` rounds are finished, once; how many were finished now."""
    if AuditLine.objects.filter(study=target, action=PLAYED).exists():
        return 0
    dialogues = list(
        Dialogue.objects.filter(study_items__study=target)
        .prefetch_related("parties__system")
        .order_by("external_id")
    )
    human = people.how_human(dialogues, texts()["humanness"], seed=target.seed)
    played = playing.play(target, human, seed=target.seed, rounds=wanted, until=until, say=say)
    audit.record(PLAYED, study=target, rounds=played)
    return played

"""Agents as data: a version for every change of what describes one, and the one that ships."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext_lazy as _

from games.group.agent.delays import delays_of
from games.group.agent.thinking import kinds
from games.group.agent.workers import checked
from games.group.models import Agent
from studies import audit
from studies.models import MachineConfig, Rater
from turingsite.errors import Conflict, Invalid

SHIPPED = Path(__file__).resolve().parent.parent / "agent" / "shipped"
TALK = Path(__file__).resolve().parent.parent / "agent" / "offline"


@dataclass(frozen=True)
class AgentData:
    """All that describes a version of an agent. ``told_*``: what the debrief says it was told."""

    key: str
    name: str
    thinking: str
    model: str = ""
    prompts: Mapping[str, Any] = field(default_factory=dict)
    workers: Sequence[Mapping[str, Any]] = ()
    delays: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    told_en: str = ""
    told_zh: str = ""

    def sha256(self) -> str:
        text = json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def playable() -> QuerySet[Agent]:
    """Those that this site has code for, the newest version first; others came with imported games."""
    return Agent.objects.filter(thinking__in=kinds.keys()).order_by("key", "-version")


def publish_agent(*, data: AgentData, user: Any = None, now: datetime | None = None) -> Agent:
    """The version with exactly these data: the one that is there, or a new one with its machine rater.

    Invalid ``unknown_thinking``, ``bad_delays``, ``bad_workers``; Conflict where somebody publishes another
    version of the same agent at this moment.
    """
    if data.thinking not in kinds:
        raise Invalid("unknown_thinking", _("This site has no code that thinks for this agent."))
    delays_of(data.delays)
    checked(data.workers)
    sha256 = data.sha256()
    found = Agent.objects.filter(sha256=sha256).first()
    if found is not None:
        return found
    try:
        return _published(data, sha256, user, now)
    except IntegrityError as error:
        found = Agent.objects.filter(sha256=sha256).first()
        if found is not None:
            return found
        raise Conflict("agent_changed", _("This agent was changed meanwhile. Look again.")) from error


@transaction.atomic
def _published(data: AgentData, sha256: str, user: Any, now: datetime | None) -> Agent:
    newest = Agent.objects.filter(key=data.key).aggregate(n=Max("version"))["n"] or 0
    machine = MachineConfig.objects.create(
        name=data.name, parameters=json.loads(json.dumps(asdict(data))), sha256=sha256
    )
    Rater.objects.create(machine=machine)
    agent = Agent.objects.create(
        **{**asdict(data), "workers": list(data.workers)}, version=newest + 1, sha256=sha256, machine=machine
    )
    audit.record("agent.published", user=user, target=f"{agent.key} {agent.version}", now=now)
    return agent


def ensure_offline_agent() -> Agent:
    """The agent that needs no model, in the version that ships now; stored when first asked for."""
    return publish_agent(data=offline_data())


@cache
def offline_data() -> AgentData:
    """What describes the scripted agent: its file, and the hashes of what it can say."""
    with (SHIPPED / "offline.yaml").open(encoding="utf-8") as file:
        body: dict[str, Any] = yaml.safe_load(file)
    told = body.pop("told")
    talk = {
        f"talk/{path.stem}": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in sorted(TALK.glob("*.yaml"))
    }
    return AgentData(**body, prompts=talk, told_en=told["en"], told_zh=told["zh"])

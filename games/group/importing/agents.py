"""The agent of an imported game: one of this program's where it is known, else a row that stands for it."""

from __future__ import annotations

import hashlib
import json

from django.db.models import Max

from games.group.importing.shapes import FileAgent
from games.group.models import Agent
from studies.models import MachineConfig, Rater

#: In the place of code that decides: such an agent plays no game here.
THINKING = "imported"


def agent_of(said: FileAgent | None) -> Agent | None:
    """Found again by its hash, or by what the file says of it; else stored, with the file's version where
    that is free. Inside the transaction of the game."""
    if said is None:
        return None
    body = {
        "key": said.key, "name": said.name, "model": said.model, "sha256": said.sha256,
        "parameters": dict(said.parameters),
    }  # fmt: skip
    sha256 = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    for known in filter(None, (said.sha256, sha256)):
        found = Agent.objects.filter(sha256=known).first()
        if found is not None:
            return found
    machine = MachineConfig.objects.create(name=said.name, parameters=body, sha256=sha256)
    Rater.objects.create(machine=machine)
    return Agent.objects.create(
        key=said.key,
        version=_version(said),
        name=said.name,
        thinking=THINKING,
        model=said.model,
        parameters=body,
        sha256=sha256,
        machine=machine,
    )


def _version(said: FileAgent) -> int:
    wanted = said.parameters.get("version")
    taken = Agent.objects.filter(key=said.key)
    if isinstance(wanted, int) and not taken.filter(version=wanted).exists():
        return wanted
    return int(taken.aggregate(n=Max("version"))["n"] or 0) + 1

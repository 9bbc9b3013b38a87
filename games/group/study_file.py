"""The group game's part of a study file: its settings, under ``settings.group``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from games.group.models import Agent, GroupSettings
from games.group.services.agents import ensure_offline_agent, playable
from games.group.services.settings import FIXED_ONCE_PLAYED, SETTINGS, change_group_settings, has_played
from studies.files.shapes import Flag, Many, Number, Shape, Text, Whole
from studies.models import Study
from studies.registry import StudyPart, study_parts

KEY = "group"
MOST = 32_767  # what the column holds
TOPIC = 200


def _known_agents() -> list[str]:
    ensure_offline_agent()
    return [_named(one) for one in playable()]


def _named(agent: Agent) -> str:
    return f"{agent.key} {agent.version}"


FIELDS: dict[str, Shape] = {
    "people": Whole(2, 12),
    "least_people": Whole(2, 12),
    "start_after": Whole(0, MOST),
    "wait_minutes": Whole(1, MOST),
    "discussion_seconds": Whole(10, MOST),
    "vote_seconds": Whole(5, MOST),
    "reveal_seconds": Whole(0, MOST),
    "topic_en": Text(TOPIC),
    "topic_zh": Text(TOPIC),
    "agent_votes": Flag(),
    "show_tallies": Flag(),
    "spectators": Flag(),
    "abstain_button": Flag(),
    "typing_indicator": Flag(),
    "play_once": Flag(),
    "least_present": Whole(1, MOST),
    "gone_after": Whole(30, MOST),
    "max_length": Whole(20, 5000),
    "rate_count": Whole(1, MOST),
    "rate_seconds": Whole(1, MOST),
    "bots_after": Number(0, MOST, blank=True),
    "agents": Many(Text(known=_known_agents), least=1),
}


def _values(settings: GroupSettings, agents: list[str]) -> dict[str, Any]:
    found = {name: getattr(settings, name) for name in FIELDS if name != "agents"}
    return {**found, "agents": agents}


def read(study: Study) -> dict[str, Any]:
    """The study's settings, the defaults where it has none yet. Agents by key and version: "offline 1"."""
    settings = GroupSettings.objects.filter(study=study).first()
    if settings is None:
        return defaults()
    return _values(settings, sorted(_named(one) for one in settings.agents.all()))


def defaults() -> dict[str, Any]:
    return _values(GroupSettings(), [_named(ensure_offline_agent())])


def refusal(study: Study, name: str) -> Any:
    """Why the setting may not change now; empty where it may."""
    fixed = name in FIXED_ONCE_PLAYED and has_played(study)
    return _("This can't be changed any more: people have played.") if fixed else ""


def write(study: Study, values: Mapping[str, Any], user: Any) -> None:
    fields = dict(values)
    agents = fields.pop("agents", None)
    if fields.get("bots_after") is not None:
        fields["bots_after"] = int(fields["bots_after"])
    by_name = {_named(one): one for one in playable()} if agents is not None else {}
    chosen = None if agents is None else [by_name[name] for name in agents]
    change_group_settings(study=study, user=user, agents=chosen, **fields)


def register() -> None:
    assert set(FIELDS) == set(SETTINGS)  # noqa: S101  (a setting without a place in the file would be lost)
    study_parts.add(StudyPart(KEY, FIELDS, read, defaults, refusal, write))

"""How a study plays the group game, changed from the desk or by a study file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from games.group.agent.thinking import kinds
from games.group.models import Agent, Game, GroupSettings
from studies import audit
from studies.models import Study
from studies.services.setting import store
from turingsite.errors import Invalid

#: What decides what people meet in a game: fixed with the first one.
FIXED_ONCE_PLAYED = (
    "people", "discussion_seconds", "vote_seconds", "topic_en", "topic_zh", "agent_votes", "show_tallies",
    "spectators", "abstain_button", "typing_indicator", "play_once", "agents",
)  # fmt: skip
#: Columns that may change between two games.
FREE = (
    "least_people", "start_after", "wait_minutes", "reveal_seconds", "least_present", "gone_after",
    "max_length", "rate_count", "rate_seconds", "bots_after",
)  # fmt: skip
SETTINGS = (*FIXED_ONCE_PLAYED, *FREE)
#: Columns that a game keeps a copy of: it is played to its end by the rules it began with.
RULES = (
    "people", "discussion_seconds", "vote_seconds", "reveal_seconds", "topic_en", "topic_zh", "agent_votes",
    "show_tallies", "spectators", "abstain_button", "least_present", "gone_after",
)  # fmt: skip


def settings_of(study: Study) -> GroupSettings:
    """The study's settings of the game, or the defaults where it has none."""
    return GroupSettings.objects.filter(study=study).first() or GroupSettings(study=study)


def rules_of(settings: GroupSettings) -> dict[str, Any]:
    """What a game that starts now keeps of ``settings``."""
    return {name: getattr(settings, name) for name in RULES}


def has_played(study: Study) -> bool:
    """Whether people have played the game in ``study``; a researcher's preview is no game."""
    return Game.objects.filter(study=study, room__is_preview=False).exists()


@transaction.atomic
def change_group_settings(
    *, study: Study, user: Any = None, agents: Sequence[Agent] | None = None, **fields: Any
) -> list[str]:
    """Set how ``study`` plays, and which agents it has; the names of what changed.

    Invalid with what is wrong by field; ``fixed`` for what no longer changes once people have played.
    """
    if set(fields) - (set(SETTINGS) - {"agents"}):
        raise ValueError("not settings of the group game")
    settings, _new = GroupSettings.objects.get_or_create(study=study)
    changed = [name for name in SETTINGS if name in fields and fields[name] != getattr(settings, name)]
    before = list(settings.agents.order_by("pk"))
    if agents is not None and {one.pk for one in agents} != {one.pk for one in before}:
        changed.append("agents")
    fixed = [name for name in changed if name in FIXED_ONCE_PLAYED]
    if fixed and has_played(study):
        message = _("This can't be changed any more: people have played.")
        raise Invalid("fixed", message, fields=dict.fromkeys(fixed, message))
    _check(settings, fields)
    if any(one.thinking not in kinds for one in agents or ()):
        message = _("This site has no code that thinks for this agent.")
        raise Invalid("unknown_thinking", message, fields={"agents": message})
    values = store(settings, {name: fields[name] for name in changed if name != "agents"})
    if agents is not None and "agents" in changed:
        settings.agents.set(agents)
        values["agents"] = [sorted(map(_named, before)), sorted(map(_named, agents))]
    if changed:
        audit.record(
            "group.settings", study=study, user=user, target=study.slug, changed=changed, values=values
        )
    return changed


def _named(agent: Agent) -> str:
    return f"{agent.key} {agent.version}"


def _check(settings: GroupSettings, fields: Mapping[str, Any]) -> None:
    """Invalid where settings do not go together."""
    after = {
        name: fields.get(name, getattr(settings, name))
        for name in ("people", "least_people", "least_present")
    }
    wrong: dict[str, Any] = {}
    if after["least_people"] > after["people"]:
        wrong["least_people"] = _("A game can't need more people than it has.")
    if after["least_present"] > after["least_people"]:
        wrong["least_present"] = _("This is more than a game may start with.")
    if wrong:
        raise Invalid("bad_settings", _("Some of this can't be used."), fields=wrong)

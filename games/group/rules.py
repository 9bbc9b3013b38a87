"""The group game's rules for the room it is played in; registered once, when the app starts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from games.group import presenters, selectors
from games.group.services.starting import KEY
from games.group.services.turning import left, phase_over
from games.group.services.voting import cast_vote
from games.room.models import Seat
from games.room.rules import Rules, rules
from turingsite.errors import Invalid


def act(seat: Seat, action: str, data: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
    """``vote`` with {"target": code or None, "round": n}; answers with the vote that stands."""
    if action != "vote":
        raise Invalid("unknown_action", _("This can't be done in this game."))
    if "target" not in data:  # who abstains says so
        raise Invalid("choose", _("Choose one of the players."))
    target, number = data["target"], data.get("round")
    if not isinstance(number, int) or isinstance(number, bool) or not isinstance(target, str | None):
        raise Invalid("unreadable", _("The request cannot be read. Load the page again; you lose nothing."))
    vote = cast_vote(seat=seat, target_code=target, round=number, now=now)
    return {"do": "vote", "round": vote.round, "target": vote.target.code if vote.target else None}


def may_read(seat: Seat) -> bool:
    return selectors.may_read(seat, seat.room.group_game)


def register() -> None:
    """Called once when the app starts."""
    rules.add(
        Rules(
            key=KEY,
            phase_over=phase_over,
            state=presenters.play_state,
            act=act,
            may_read=may_read,
            left=left,
        )
    )

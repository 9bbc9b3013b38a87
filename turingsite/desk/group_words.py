"""What the desk calls phases, ends and people of a group game, before and after outcomes may be seen."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.group.agent.thinking import kinds
from games.group.models import Agent, Game
from games.group.watching import SeatRow
from games.room.models import Seat

PHASES = {
    "discussion": gettext_lazy("discussion"),
    "vote": gettext_lazy("vote"),
    "reveal": gettext_lazy("between rounds"),
    "end": gettext_lazy("over"),
}


def phase_of(game: Game) -> Any:
    return PHASES.get(game.room.phase, game.room.phase)


def end_of(game: Game, *, open_: bool) -> Any:
    """How a game ended; what became of the AI only where outcomes may be seen. Empty while it is played."""
    if not game.end:
        return ""
    if game.end in Game.PLAYED and not open_:
        return _("played to the end")
    return game.get_end_display()


def presence_of(row: SeatRow) -> Any:
    """Whether the seat's person is there, in words."""
    if row.is_machine:
        return _("plays by itself")
    if row.seat.left_why:
        return row.seat.get_left_why_display()
    return Seat.Left.NOT.label if row.here else _("not connected")


def thinking_of(agent: Agent) -> Any:
    """How an agent comes to what it writes: the title of its way to think, and the model where it has one."""
    if agent.thinking not in kinds:
        return agent.model or agent.thinking
    title = kinds.get(agent.thinking).title
    return f"{title} · {agent.model}" if agent.model else title


def clock(seconds: float | None) -> str:
    """Minutes and seconds, as 2:05."""
    if seconds is None:
        return "–"
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02d}"


def parts_of(agent: Agent) -> list[tuple[Any, list[tuple[str, str]]]]:
    """What describes an agent, as titles with names and values; parts that are empty are left out."""
    workers = {str(one.get("worker", n)): _rest(one) for n, one in enumerate(agent.workers or [], 1)}
    parts = (
        (_("Parameters"), agent.parameters),
        (_("Delays"), agent.delays),
        (_("Background workers"), workers),
        (_("Prompts"), agent.prompts),
    )
    return [
        (title, [(name, _plain(value)) for name, value in dict(said).items()])
        for title, said in parts
        if said
    ]


def _rest(worker: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in worker.items() if name != "worker"}


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(one)}" for name, one in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "–"
    return str(value)

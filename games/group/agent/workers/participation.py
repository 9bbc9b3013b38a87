"""How much the agent talks beside what would be its fair share, in the round that is running."""

from __future__ import annotations

from typing import Any

from games.group.agent.view import View
from games.group.agent.workers.seam import Worker


class Participation(Worker):
    """Plain counting: ``share`` of this round's messages and ``fair`` = 1 / living players.

    ``balance`` = own / (messages · fair): 1 is a fair part, None before anybody wrote.
    """

    key = "participation"
    goal = "Talk neither much more nor much less than the others."
    every = 5.0

    def work(self, view: View) -> dict[str, Any]:
        said = [line for line in view.said if line.round == view.round]
        own = sum(line.seat == view.you for line in said)
        fair = 1 / (len(view.others) + 1)
        return {
            "round": view.round,
            "own": own,
            "messages": len(said),
            "share": round(own / len(said), 3) if said else None,
            "fair": round(fair, 3),
            "balance": round(own / (len(said) * fair), 3) if said else None,
        }

"""Models of the group game, no I/O. Imports go settings ← playing ← trace.

``settings``: how a study plays, which agents it has; ``playing``: waiting room, games, votes; ``trace``: what
the agent did and why.
"""

from games.group.models.playing import BotCall, Elimination, Game, Ticket, Vote
from games.group.models.settings import Agent, GroupSettings
from games.group.models.trace import AgentCall, AgentNote, AgentStep, Candidate

__all__ = [
    "Agent",
    "AgentCall",
    "AgentNote",
    "AgentStep",
    "BotCall",
    "Candidate",
    "Elimination",
    "Game",
    "GroupSettings",
    "Ticket",
    "Vote",
]

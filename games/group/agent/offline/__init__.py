"""The agent that needs no model: it hears by patterns and says lines from a list (en.yaml, zh.yaml).

``lines``: the list, filled in, nothing twice. ``hearing``: what a message is about, whom it means.
``script``: when to write, what, and whom to vote for. The same view gives the same answer.
"""

from django.utils.translation import gettext_lazy as _

from games.group.agent.offline.script import Script
from games.group.agent.thinking import Kind

OFFLINE = Kind(
    key="offline",
    title=_("scripted, offline: it picks its lines from the conversation, without a language model"),
    make=Script,
)

__all__ = ["OFFLINE", "Script"]

"""The names of a group game's phases, in their order; ``end`` is the room's own."""

from __future__ import annotations

DISCUSSION = "discussion"
VOTE = "vote"
REVEAL = "reveal"
END = "end"

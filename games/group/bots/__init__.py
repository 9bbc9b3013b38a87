"""Bots that play the group game over HTTP and the socket as people do, some of them badly.

``player``: one bot from the welcome page to the debrief. ``table``: what it does in the room.
``tab``: one open page of the room. ``log``: what it was told, checked line by line. ``trouble``: what goes
wrong on real phones. ``talk``: what it says. ``calls``: groups of bots; it and ``checks`` read rows.
"""

from games.group.bots.player import Bot, Plan, Result

__all__ = ["Bot", "Plan", "Result"]

"""Bots that play the speech game over HTTP as people do, some of them clumsily, and check what they see.

``player``: one bot from the welcome page to the debrief. ``clumsy``: what goes wrong in real browsers.
``watch``: what it reports. Only ``hearing`` knows files of this project; nothing reads rows.
"""

from games.speech.bots.player import Bot, Plan
from games.speech.bots.watch import Result

__all__ = ["Bot", "Plan", "Result"]

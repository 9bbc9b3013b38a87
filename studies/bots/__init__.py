"""Bots that come through a study's pages over HTTP as people do; activities add what is done inside.

``walking``: from the welcome page to the activity. ``browser``, ``forms``: HTTP and pages. ``watch``: words
that must not be seen. ``commands``: what commands that send bots share. Nothing here reads rows.
"""

from studies.bots.browser import Browser, Page
from studies.bots.walking import Stuck, Walker
from studies.bots.watch import Watch

__all__ = ["Browser", "Page", "Stuck", "Walker", "Watch"]

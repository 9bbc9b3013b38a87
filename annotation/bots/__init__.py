"""Bots that annotate: how they hear and score (pure), and one that works over HTTP as people do.

``hearing``: what there is to hear in a dialogue. ``rating``: raters of good, average and careless quality.
``annotator``: one bot from the way in to the end. ``clumsy``: what goes wrong in real browsers.
"""

from annotation.bots.annotator import Bot, Plan, Result
from annotation.bots.hearing import Heard, hear
from annotation.bots.rating import QUALITIES, Simulated

__all__ = ["QUALITIES", "Bot", "Heard", "Plan", "Result", "Simulated", "hear"]

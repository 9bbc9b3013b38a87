"""Pages of annotators. ``joining``: by an invitation. ``guidelines``, ``calibration``: before the work.
``work``: the scoring page and what it sends. ``pages``: around it. ``accounts``: login, and the studies of
somebody with a login.
"""

from annotation.views.calibration import calibration
from annotation.views.guidelines import guidelines
from annotation.views.joining import join_
from annotation.views.pages import done, finish, pause, play, returned
from annotation.views.work import batch, failed, hear, keys, known, next_, save

__all__ = [
    "batch",
    "calibration",
    "done",
    "failed",
    "finish",
    "guidelines",
    "hear",
    "join_",
    "keys",
    "known",
    "next_",
    "pause",
    "play",
    "returned",
    "save",
]

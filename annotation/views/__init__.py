"""Pages of annotators. ``joining``: by an invitation. ``guidelines``, ``calibration``: before the work.
``accounts``: login, and the studies of somebody with a login.
"""

from annotation.views.calibration import calibration
from annotation.views.guidelines import guidelines
from annotation.views.joining import join_

__all__ = ["calibration", "guidelines", "join_"]

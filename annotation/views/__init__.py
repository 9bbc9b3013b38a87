"""Pages of annotators. ``guidelines``, ``calibration``: before the work."""

from annotation.views.calibration import calibration
from annotation.views.guidelines import guidelines

__all__ = ["calibration", "guidelines"]

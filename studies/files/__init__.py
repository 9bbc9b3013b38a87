"""A study as one YAML file: what may stand in it, checking, writing, comparing with a study that exists.

``shapes``: what a value may be, checked against the lines of the file. ``schema``: the one schema of study
files. ``describing``: a study, or a template, as such a file. ``comparing``: what applying one would change
and what it may not. Applying is a write: ``studies.services.filing``.
"""

from studies.files.comparing import Change, compare, shown
from studies.files.describing import TEMPLATES, as_yaml, describe, template
from studies.files.schema import FORMAT, check
from studies.files.shapes import Checked, Problem

__all__ = [
    "FORMAT",
    "TEMPLATES",
    "Change",
    "Checked",
    "Problem",
    "as_yaml",
    "check",
    "compare",
    "describe",
    "shown",
    "template",
]

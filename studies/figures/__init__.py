"""Figures of reports: one Vega-Lite specification each, drawn on the server for the page, as SVG and as PNG.

``shapes``: what a figure is made of. ``panels``, ``rows``, ``grouped``, ``stacked``, ``heat``, ``plots``: the
specification. ``given``: from a report's tables to figures. ``drawing``: the picture. A figure is a pure
function of a report's result: an export gives the same picture as the database.
"""

from __future__ import annotations

from studies.figures.drawing import PICTURES, as_png, as_svg, on_page
from studies.figures.given import access_figure, figure, figures_of, found, listed, said, scoped
from studies.figures.grouped import dots
from studies.figures.heat import heat
from studies.figures.plots import Along, courses, scatter
from studies.figures.rows import bars, intervals
from studies.figures.shapes import Axis, Figure, Mark, Panel, Sort, Spec, share_axis
from studies.figures.stacked import stacks

__all__ = [
    "PICTURES",
    "Along",
    "Axis",
    "Figure",
    "Mark",
    "Panel",
    "Sort",
    "Spec",
    "access_figure",
    "as_png",
    "as_svg",
    "bars",
    "courses",
    "dots",
    "figure",
    "figures_of",
    "found",
    "heat",
    "intervals",
    "listed",
    "on_page",
    "said",
    "scatter",
    "scoped",
    "share_axis",
    "stacks",
]

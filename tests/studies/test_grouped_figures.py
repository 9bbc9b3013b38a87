"""Figures with several marks in a row, distributions and heat maps: sizes, keys, parts, many columns."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from studies import figures
from studies.figures import Axis, Figure, Mark, Panel, Sort, drawing, share_axis
from studies.figures.panels import NARROW, WIDE
from studies.figures.stacked import STRENGTHS
from studies.reports import Basis, Heading, ReportResult, ReportTable

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ("1 machine-like", "2", "3", "4", "5 human-like", "no evidence")
HOSTILE = '<script>alert("x")</script>'
SPEAKERS: tuple[tuple[Sort, str], ...] = (("human", "human speakers"), ("machine", "all machines"))
SCALE = Axis("mean", low=1.0, high=5.0, decimals=1)


def result() -> ReportResult:
    table = ReportTable("shares", "Shares", (Heading("name", "name", "text"),), ())
    return ReportResult("agreement", "Report", "worked", "", "", Basis(70, 10, 10), (table,), layer="raw")


def drawn(*panels: Panel, axis: Axis, draw: Any) -> Figure:
    [one] = figures.figure(result(), "shares", panels, axis, draw)
    return one


def dotted() -> Figure:
    marks = [
        Mark(name, 0.3 + n / 10, 0.2 + n / 10, 0.5 + n / 10, n=900 + n, sort=sort, group=group)
        for n, name in enumerate(("Rhythm", "Metaphor and implied meaning", HOSTILE))
        for sort, group in SPEAKERS
    ]
    lacking = Mark("Accent", None, n=3, sort="human", group="human speakers", note="n = 3, not enough")
    panels = (Panel("Voice", tuple(marks)), Panel("Words", (lacking, *marks[:2])))
    return drawn(*panels, axis=share_axis("share"), draw=figures.dots)


def stacked() -> Figure:
    parts = (0.1, 0.2, 0.3, 0.25, 0.05, 0.1)
    marks = (
        Mark("Rhythm", 0.1, n=40, sort="human", group="human speakers", parts=parts),
        Mark("Rhythm", 0.0, n=50, sort="machine", group="all machines", parts=(0.5, 0.5, 0, 0, 0, 0)),
        Mark("Accent", None, n=2, sort="human", group="human speakers", note="n = 2, not enough"),
    )
    return drawn(Panel("Voice", marks), axis=share_axis("share"), draw=partial(figures.stacks, parts=WORDS))


def mapped(columns: int = 5) -> Figure:
    marks = tuple(
        Mark(name, None if (row, n) == (0, 1) else 2.0 + n / 10, group=f"System {n} of several")
        for row, name in enumerate(("Rhythm", HOSTILE))
        for n in range(columns)
    )
    return drawn(Panel("system", marks), axis=SCALE, draw=figures.heat)


FIGURES = {"dots": dotted, "stacks": stacked, "heat": mapped}


def width_of(svg: str) -> float:
    return float(ElementTree.fromstring(svg).attrib["width"])  # noqa: S314  (drawn here)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_as_wide_as_the_others(name: str) -> None:
    one = FIGURES[name]()
    for spec, most in ((one.spec, WIDE), (one.narrow, NARROW)):
        assert most - 40 < width_of(drawing.on_page(spec)) <= most + 8


@pytest.mark.parametrize("name", FIGURES)
def test_texts_are_legible_and_text_alone(name: str) -> None:
    one = FIGURES[name]()
    for svg in (figures.as_svg(one), drawing.on_page(one.narrow)):
        assert "<script" not in svg
        assert all(float(size) >= 11 for size in re.findall(r'font-size="([\d.]+)px"', svg))
        assert not re.search(r"\sstyle=", svg)


def test_a_row_names_its_marks_once_and_each_in_words() -> None:
    svg = figures.as_svg(dotted())
    assert svg.count(">Rhythm<") == 2  # a panel each
    for said in ("human speakers", "all machines", "n = 3"):
        assert svg.count(f">{said}<") == 1, said
    assert "n = 3, not enough" in svg
    assert "Rhythm, human speakers: 0.300 [0.200, 0.500]" in dotted().alt


def test_marks_of_one_group_need_no_key() -> None:
    one = drawn(Panel("", (Mark("Rhythm", 0.5),)), axis=share_axis("share"), draw=figures.dots)
    assert len(one.spec["concat"]) == 1


def test_parts_of_a_bar_are_as_long_as_their_shares_and_told_apart_in_grey() -> None:
    spec = stacked().spec
    bars = spec["concat"][-1]
    boxes = [
        (layer["mark"]["fillOpacity"], row["from"], row["to"])
        for layer in bars["layer"]
        if layer["mark"]["type"] == "rect" and "values" in layer.get("data", {})
        for row in layer["data"]["values"]
        if "part" in row
    ]
    lengths = sorted((strength, round(end - start, 6)) for strength, start, end in boxes)
    assert lengths == sorted(
        [(STRENGTHS[0], 0.1), (STRENGTHS[0], 0.5), (STRENGTHS[1], 0.2), (STRENGTHS[1], 0.5),
         (STRENGTHS[2], 0.3), (STRENGTHS[3], 0.25), (STRENGTHS[4], 0.05), (0.0, 0.1)]
    )  # fmt: skip
    assert all(after - before > 0.15 for before, after in pairwise(STRENGTHS))
    svg = figures.as_svg(stacked())
    assert all(f">{word}<" in svg for word in WORDS)
    assert ">n = 40 / 50<" in svg
    assert "n = 2, not enough" in svg


def test_cells_hold_their_numbers_and_a_dash_where_there_is_none() -> None:
    svg = figures.as_svg(mapped())
    assert svg.count(">2.0<") == 2
    assert svg.count(">2.1<") == 1
    assert svg.count(">–<") == 1
    assert ">2<" in svg  # the scale spans what there is
    assert ">2.5<" in svg


def test_many_columns_go_on_below() -> None:
    many = mapped(40)
    assert len(many.spec["concat"]) > 2
    assert len(many.narrow["concat"]) > len(many.spec["concat"])
    assert width_of(drawing.on_page(many.narrow)) <= NARROW + 8
    assert figures.as_svg(many).count("System 39 of several") == 1

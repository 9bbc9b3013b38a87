"""Figures: what is drawn, what is left out, what must not get into a picture, PNG where there is no font."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import vl_convert

from studies import figures
from studies.figures import Along, Axis, Figure, Mark, Panel, drawing, share_axis
from studies.figures.shapes import PALETTE, SORTS
from studies.figures.writing import cut, folded, width_of
from studies.reports import Basis, Heading, ReportResult, ReportTable
from turingsite.errors import Invalid, NotFound

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = '<script>alert("x")</script> & <image href="https://elsewhere.test/p.png"/>'
MARKS = (
    Mark("Talker", 0.425, 0.158, 0.744, n=40, sort="machine"),
    Mark("people", 0.767, 0.6, 0.88, n=30, sort="human", inner=(0.65, 0.83)),
    Mark("Rare", None, n=3, sort="machine", note="n = 3, not enough"),
)


def result(n: int = 70) -> ReportResult:
    table = ReportTable("shares", "Shares", (Heading("name", "name", "text"),), ())
    return ReportResult("success-rate", "Report", "worked", "all", "", Basis(n, 10, 10), (table,))


def drawn(*panels: Panel, axis: Axis | None = None, draw: Any = figures.intervals) -> Figure:
    [one] = figures.figure(result(), "shares", panels, axis or share_axis("share"), draw)
    return one


def elements(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter())  # noqa: S314  (our own)


def texts(svg: str) -> list[str]:
    """Words of a picture, as they are read."""
    return [element.text or "" for element in elements(svg) if element.tag.endswith("}text")]


def test_a_figure_says_what_it_shows_and_rests_on() -> None:
    one = drawn(Panel("pooled", MARKS))
    words = texts(figures.as_svg(one))
    for said in ("Shares", "pooled", "Talker", "0.425 [0.158, 0.744]", "n = 40", "share", "0.5"):
        assert said in words
    assert any("set all: 70 verdicts by 10 persons on 10 dialogues" in said for said in words)
    assert one.alt.startswith(
        "Shares. pooled: Talker: 0.425 [0.158, 0.744]; people: 0.767 [0.600, 0.880]; Rare: n = 3"
    )


def test_without_enough_data_a_row_has_no_mark_and_says_why() -> None:
    words = texts(figures.as_svg(drawn(Panel("", MARKS))))
    assert "n = 3, not enough" in words
    svg = figures.as_svg(drawn(Panel("", MARKS)))
    points = re.search(r'<g class="mark-symbol[^>]*>(.*?)</g>', svg)
    assert points is not None
    assert points.group(1).count("<path") == 2


@pytest.mark.parametrize("panels", [[], [Panel("", ())], [Panel("", (MARKS[2],))]])
def test_an_empty_figure_is_not_drawn(panels: list[Panel]) -> None:
    assert figures.figure(result(), "shares", panels, share_axis("share"), figures.intervals) == []


def test_a_panel_without_any_value_is_left_to_the_table() -> None:
    words = texts(figures.as_svg(drawn(Panel("English", MARKS), Panel("Chinese", (MARKS[2],)))))
    assert "English" in words
    assert "Chinese" not in words


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("on_page", [False, True])
def test_hostile_names_are_text(narrow: bool, on_page: bool) -> None:
    one = drawn(Panel(HOSTILE, (replace(MARKS[0], label=HOSTILE, note=HOSTILE),)))
    one = replace(one, spec=one.narrow) if narrow else one
    svg = figures.on_page(one.spec) if on_page else figures.as_svg(one)
    assert "<script" not in svg
    assert "<image" not in svg
    tags = {element.tag.rpartition("}")[2] for element in elements(svg)}
    assert tags <= {"svg", "g", "path", "rect", "line", "text"}
    assert any(said.startswith("<script>") for said in texts(svg))


def test_a_picture_asks_no_other_host_and_breaks_no_policy() -> None:
    for svg in (figures.as_svg(drawn(Panel("", MARKS))), figures.on_page(drawn(Panel("", MARKS)).spec)):
        addresses = set(re.findall(r"https?://[^\"' ]+", svg))
        assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
        assert not re.search(r"\s(style|on\w+|href|id)=", svg)


def test_the_page_gets_its_own_colours_and_font() -> None:
    one = drawn(Panel("", MARKS))
    page = figures.on_page(one.spec)
    assert f'fill="var(--machine, {PALETTE["machine"]})"' in page
    assert f'stroke="var(--human, {PALETTE["human"]})"' in page
    assert "font-family" not in page
    assert "Shares" not in texts(page)  # the page has the title as a heading
    assert f'fill="{PALETTE["machine"]}"' in figures.as_svg(one)


@pytest.mark.parametrize("size", ["spec", "narrow"])
def test_the_page_and_the_file_draw_the_same(size: str) -> None:
    """Texts are not measured for the page: nothing may move for that."""
    one = drawn(Panel("pooled", MARKS), Panel("English", MARKS))
    spec = {key: value for key, value in getattr(one, size).items() if key != "title"}
    spec |= {"padding": 0, "background": "transparent"}

    def places(svg: str) -> list[tuple[str, str | None]]:
        found = (element for element in elements(svg) if element.tag.endswith("}text"))
        return [(element.text or "", element.get("transform")) for element in found]

    measured = vl_convert.vegalite_to_svg(spec)
    page = figures.on_page(getattr(one, size))
    assert places(page) == places(measured)
    height = re.compile(r'height="(\d+)"')
    assert height.search(page).group() == height.search(measured).group()  # type: ignore[union-attr]


@pytest.mark.parametrize("size", ["spec", "narrow"])
def test_no_text_is_smaller_than_11_px(size: str) -> None:
    along = Along("round", (0.5, 3.5), ((1.0, "1"), (2.0, "2"), (3.0, "3")))
    course = Panel("", tuple(replace(mark, at=place) for place, mark in enumerate(MARKS, 1)))
    for one in (
        drawn(Panel("pooled", MARKS)),
        drawn(course, draw=partial(figures.courses, along=along)),
        drawn(course, draw=partial(figures.scatter, along="score")),
        drawn(Panel("", MARKS), draw=figures.bars),
    ):
        svg = figures.on_page(getattr(one, size))
        sizes = [float(found) for found in re.findall(r'font-size="([-\d.]+)px"', svg)]
        assert min(sizes) >= 11
        assert float(re.search(r'width="([\d.]+)"', svg).group(1)) <= (720 if size == "spec" else 342)  # type: ignore[union-attr]


def test_marks_are_told_apart_without_colour() -> None:
    for one, other in combinations(SORTS.values(), 2):
        assert (one.shape, one.filled) != (other.shape, other.filled)


def test_long_names_end_in_an_ellipsis_and_neighbours_on_a_scatter_do_not_meet() -> None:
    long = "A system with a name that is longer than any figure has room for at its left side"
    words = texts(figures.as_svg(drawn(Panel("", (replace(MARKS[0], label=long),)))))
    [short] = [said for said in words if said.startswith("A system")]
    assert short.endswith("…")
    marks = (
        *(Mark(f"System {place}", 0.5, 0.4, 0.6, at=50.0 + place / 10) for place in range(3)),
        Mark("far", 0.2, at=70.0),
    )
    svg = figures.as_svg(drawn(Panel("Score", marks), draw=partial(figures.scatter, along="score")))
    heights = [
        float(place)
        for place, said in re.findall(r'translate\([-\d.]+,([-\d.]+)\)"[^>]*>([^<]*)</text>', svg)
        if said.startswith("System")
    ]
    assert len(heights) == 3
    assert min(abs(one - other) for one, other in combinations(heights, 2)) >= 12


def test_an_interval_that_runs_beyond_a_fixed_axis_ends_in_an_arrow() -> None:
    wide, held = Mark("d", 0.3, -1.7, 1.9, n=9), Mark("e", 0.3, -1.0, 0.9, n=9)
    one = drawn(Panel("", (wide, held)), axis=Axis("difference", low=-1.0, high=1.0, line=0.0))
    row, other = one.spec["concat"][0]["data"]["values"]
    assert (row["low"], row["value"], row["high"]) == (-1.0, 0.3, 1.0)
    assert (row["before"], row["after"], other["before"], other["after"]) == (-1.0, 1.0, None, None)
    drawing = figures.as_svg(one)
    assert len(re.findall(r"rotate\((?:90|270)\)", drawing)) == 2
    assert "0.300 [-1.700, 1.900]" in texts(figures.as_svg(one))  # the words keep the number


def test_on_a_phone_numbers_stand_below_the_name() -> None:
    one = drawn(Panel("", MARKS))
    assert "0.425 [0.158, 0.744]" in texts(figures.as_svg(replace(one, spec=one.narrow)))


def test_one_wild_interval_does_not_press_all_others() -> None:
    axis = Axis("d′", line=0.0, within=(-2.0, 4.0))
    low, high = axis.over([Mark("calm", 0.5, 0.2, 0.8), Mark("wild", 1.0, -6.0, 9.0), Mark("far", 4.4)])
    assert (low, high) == pytest.approx((-2.256, 4.656))


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [
        ((0.0, 1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ((-0.13, 0.31), [-0.1, 0.0, 0.1, 0.2, 0.3]),
        ((21.0, 23.2), [21.0, 21.5, 22.0, 22.5, 23.0]),
        ((2000.0, 5800.0), [2000.0, 3000.0, 4000.0, 5000.0]),
    ],
)
def test_axes_have_round_numbers(ends: tuple[float, float], ticks: list[float]) -> None:
    assert Axis("").marked(ends) == pytest.approx(ticks)


def test_all_values_the_same_still_have_an_axis() -> None:
    low, high = Axis("").over([Mark("a", 0.0), Mark("b", 0.0)])
    assert low < 0 < high
    assert figures.as_svg(drawn(Panel("", (Mark("a", 6000.0), Mark("b", 6000.0))), axis=Axis("")))


def test_lines_break_at_spaces_and_between_chinese_characters() -> None:
    assert folded("one two three", width_of("one two")) == ["one two", "three"]
    lines = folded("说“真人”的判断所占比例，附区间", 80)
    assert "".join(lines) == "说“真人”的判断所占比例，附区间"
    assert all(width_of(line) <= 104 for line in lines)
    assert not any(line.startswith(("，", "”")) for line in lines)
    assert cut("short", 100) == "short"


def test_a_png_has_twice_the_size() -> None:
    one = drawn(Panel("pooled", MARKS))
    width, height = (int(found) for found in re.findall(r'(?:width|height)="(\d+)"', figures.as_svg(one))[:2])
    picture = figures.as_png(one)
    assert picture.startswith(b"\x89PNG")
    size = (int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big"))
    assert size == (2 * width, 2 * height)


def test_a_png_without_a_chinese_font_offers_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    chinese = drawn(Panel("中文", MARKS))
    monkeypatch.setattr(drawing, "draws_chinese", lambda: False)
    with pytest.raises(Invalid) as refused:
        figures.as_png(chinese)
    assert "SVG" in str(refused.value)
    assert "中文" in texts(figures.as_svg(chinese))
    assert figures.as_png(drawn(Panel("English", MARKS)))  # needs none


def test_a_machine_without_fonts_is_recognised(tmp_path: Path) -> None:
    """Asked by drawing, so it holds wherever fonts come from."""
    (tmp_path / "fonts.conf").write_text(
        f'<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
        f"<fontconfig><dir>{tmp_path}</dir></fontconfig>"
    )
    code = "from studies.figures import drawing; print(drawing.draws_chinese())"
    asked = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "FONTCONFIG_FILE": str(tmp_path / "fonts.conf"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout.strip() == "False"


def test_a_name_that_is_no_figure_lists_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    one = drawn(Panel("", MARKS))
    given = figures.given
    monkeypatch.setattr(given, "figures_of", lambda result: [one])
    assert figures.access_figure(result(), "") is one
    with pytest.raises(NotFound) as refused:
        figures.access_figure(result(), "nothing")
    assert "shares" in str(refused.value.params)
    monkeypatch.setattr(given, "figures_of", lambda result: [])
    with pytest.raises(NotFound):
        figures.access_figure(result(), "")

"""Control characters and their like: refused where people type, harmless where a picture is drawn."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from django import forms
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studies.characters import CleanedField, TypedForm, cleaned, refusal

ROOT = Path(__file__).resolve().parents[2]
DRAWER = """
import json, sys
from studies import figures
from studies.figures import Along, Axis, Mark, Panel, drawing
from studies.reports import Basis, Heading, ReportResult, ReportTable
for line in sys.stdin:
    words, number = json.loads(line)
    table = ReportTable("shares", words[0], (Heading("name", "name", "text"),), ())
    result = ReportResult("success-rate", words[0], "worked", "all", "", Basis(9, 3, 3), (table,))
    marks = tuple(Mark(word, 0.5, 0.4, 0.6, n=9) for word in words) + (Mark("none", None, note=words[0]),)
    panels = (Panel(words[0], marks),)
    [one] = figures.figure(result, "shares", panels, Axis(words[0], low=0.0, high=1.0), figures.intervals)
    one.spec["usermeta"] = {words[0]: number}
    drawing.as_svg(one), drawing.on_page(one.spec), drawing.on_page(one.narrow)
    print("drawn", flush=True)
"""
NONCHARACTERS = [chr(p << 16 | low) for p in range(17) for low in (0xFFFE, 0xFFFF)]
NONCHARACTERS += [chr(code) for code in range(0xFDD0, 0xFDF0)]
ODD = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) in ("Cc", "Cf", "Zl", "Zp")]


class Drawer:
    """Draws in a process of its own: the engine's panic ends the process it is in."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "import django; django.setup()\n" + DRAWER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip

    def draws(self, words: list[str], number: float = 0.0) -> bool:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([words, number]) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline() == "drawn\n"

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def drawer() -> Iterator[Drawer]:
    one = Drawer()
    yield one
    one.close()


def test_every_control_format_and_non_character_can_be_drawn(drawer: Drawer) -> None:
    odd = [*ODD, *NONCHARACTERS, "\ud800", "\udfff", "\ue000", "\U0010fffd"]
    assert drawer.draws([f"bell {' '.join(odd[at : at + 30])} name" for at in range(0, len(odd), 30)])


def test_long_and_hostile_words_can_be_drawn(drawer: Drawer) -> None:
    assert drawer.draws([
        "", " ", "x" * 20_000, "字" * 3_000, "🙂" * 300, "👩‍👩‍👧" * 90, "\u202e" * 300, "e" + "\u0301" * 500,
     "\U000e0100" * 200, "א" * 500, "]]>", "<![CDATA[", "&#7;", "\\u0007", '"\n\t\r',
    ])  # fmt: skip


def test_numbers_beyond_json_can_be_drawn(drawer: Drawer) -> None:
    assert all(drawer.draws(["name"], number) for number in (float("nan"), float("inf"), -float("inf")))


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(
    st.text(st.one_of(
        st.characters(categories=["Cc", "Cs", "Cf", "Co", "Cn"]),
        st.sampled_from(NONCHARACTERS),
        st.characters(),
    )), min_size=1, max_size=4, unique=True,
))  # fmt: skip
def test_any_text_can_be_drawn(drawer: Drawer, words: list[str]) -> None:
    assert drawer.draws(words)


@given(st.text(st.one_of(st.characters(categories=["Cc", "Cs", "Cf", "Co"]), st.characters())))
def test_what_is_left_fits_utf8_and_xml_and_is_not_refused(text: str) -> None:
    left = cleaned(text)
    left.encode()
    assert not refusal(left)
    assert (left == text) == (not refusal(text))
    xml = "\t\n\r"
    assert all(
        c in xml or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c >= "\U00010000" for c in left
    )


def test_a_refusal_names_the_character_wherever_it_stands() -> None:
    assert "U+0007" in refusal({"a": ["fine", {"b": "bell \x07"}]})
    assert "U+D800" in refusal({"\ud800": 1})
    assert not refusal({"a": ["tab\tand\r\nline", 7, None, "👩‍👩‍👧"]})


class Form(TypedForm):
    name = forms.CharField(required=False)
    params = forms.JSONField(required=False)


@pytest.mark.parametrize("letter", ["\x00", "\x01", "\x07", "\x0b", "\x1b", "\x1f", "\x7f", "\x85", "\ufffe"])
def test_a_form_says_which_field_holds_one(letter: str) -> None:
    form = Form({"name": f"a{letter}b", "params": json.dumps({"key": letter})})
    assert set(form.errors) == {"name", "params"}
    assert Form({"name": "fine\tname", "params": '{"a": 1}'}).is_valid()


def test_participants_are_not_sent_back_for_one() -> None:
    assert CleanedField().clean("soft\x0bbreak\x00") == "softbreak"

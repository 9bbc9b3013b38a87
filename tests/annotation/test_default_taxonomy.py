"""The words of the default taxonomy: complete, in both languages, and short enough for the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

FILE = Path(__file__).parents[2] / "annotation" / "taxonomies" / "default.yaml"
LANGUAGES = {"en", "zh-hans"}
POLE_LENGTH = {"en": 40, "zh-hans": 14}
SETTINGS = {"max_difference", "clear_share", "min_dialogues", "rate"}
KEYS_ON_A_KEYBOARD = re.compile(r"`[^`]+`")
QUOTED = re.compile(r"“[^”]*”")
PLACEHOLDER = re.compile(r"\{(\w+)\}")
MARKDOWN = {
    "paragraph_open", "paragraph_close", "inline", "bullet_list_open", "bullet_list_close", "list_item_open",
    "list_item_close", "text", "softbreak", "strong_open", "strong_close", "code_inline",
}  # fmt: skip

DATA: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
CATEGORIES: list[dict[str, Any]] = DATA["categories"]
DIMENSIONS: list[dict[str, Any]] = [row for category in CATEGORIES for row in category["dimensions"]]
SECTIONS: list[dict[str, Any]] = DATA["guidelines"]["sections"]


def in_both_languages(node: object, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every mapping from language to text, with its path in the file."""
    if isinstance(node, dict):
        if LANGUAGES & set(node):
            yield path, node
            return
        for key, value in node.items():
            yield from in_both_languages(value, f"{path}.{key}")
    elif isinstance(node, list):
        for place, value in enumerate(node):
            yield from in_both_languages(value, f"{path}.{place}")


def as_lines(text: object) -> list[str]:
    return text if isinstance(text, list) else [str(text)]


def chinese() -> list[tuple[str, str]]:
    return [(path, line) for path, text in in_both_languages(DATA) for line in as_lines(text["zh-hans"])]


def test_eighteen_dimensions_stand_in_five_categories() -> None:
    assert [len(category["dimensions"]) for category in CATEGORIES] == [7, 4, 3, 2, 2]
    assert DATA["name"] == "human-likeness-18"


def test_keys_are_unique_and_speak_for_themselves() -> None:
    keys = [row["key"] for row in [*CATEGORIES, *DIMENSIONS]]
    assert [key for key, times in Counter(keys).items() if times > 1] == []
    assert [key for key in keys if not re.fullmatch(r"[a-z]+(-[a-z]+)*", key)] == []


def test_no_mapping_says_a_key_twice() -> None:
    nodes = [yaml.compose(FILE.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.MappingNode):
            names = [name.value for name, _ in node.value]
            assert len(names) == len(set(names)), node.start_mark
            nodes += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value


def test_every_part_is_there() -> None:
    for category in CATEGORIES:
        assert set(category) == {"key", "name", "summary", "dimensions"}
    for row in DIMENSIONS:
        assert set(row) == {"key", "name", "low", "high", "description", "examples"}, row["key"]
    scale = DATA["scale"]
    assert (scale["low"], scale["neutral"], scale["high"]) == (1, 3, 5)
    assert list(scale["points"]) == [1, 2, 3, 4, 5]
    assert scale["poles"] == {"low": scale["points"][1], "high": scale["points"][5]}
    assert all(set(section) - {"when"} == {"title", "text"} for section in SECTIONS)


def test_every_text_is_in_both_languages() -> None:
    texts = list(in_both_languages(DATA))
    assert len(texts) > 18 * 5
    for path, text in texts:
        assert set(text) == LANGUAGES, path
        english, other = as_lines(text["en"]), as_lines(text["zh-hans"])
        assert len(english) == len(other), path
        for line in [*english, *other]:
            assert isinstance(line, str), path
            assert line, path
            assert line == line.strip(), path
        assert all(re.search(r"[\u4e00-\u9fff]", line) for line in other), path
        assert not any(re.search(r"[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]", line) for line in english), (
            path
        )


@pytest.mark.parametrize("row", DIMENSIONS, ids=lambda row: row["key"])
def test_poles_fit_beside_the_scale(row: dict[str, Any]) -> None:
    for pole in (row["low"], row["high"]):
        for language, longest in POLE_LENGTH.items():
            assert len(pole[language]) <= longest, pole
            assert not pole[language].endswith((".", "。")), pole


@pytest.mark.parametrize("row", DIMENSIONS, ids=lambda row: row["key"])
def test_descriptions_say_what_one_three_five_and_zero_mean(row: dict[str, Any]) -> None:
    for language, text in row["description"].items():
        assert re.findall(r"\d", text) == ["1", "3", "5", "0"], (language, text)
    assert len(row["description"]["en"].split()) <= 70
    assert len(row["description"]["zh-hans"]) <= 120


@pytest.mark.parametrize("row", DIMENSIONS, ids=lambda row: row["key"])
def test_examples_show_both_ends(row: dict[str, Any]) -> None:
    assert [line[:3] for line in row["examples"]["en"]] == ["1: ", "5: "]
    assert [line[:2] for line in row["examples"]["zh-hans"]] == ["1：", "5："]


def test_chinese_holds_no_bare_english() -> None:
    for path, line in chinese():
        bare = PLACEHOLDER.sub("", KEYS_ON_A_KEYBOARD.sub("", QUOTED.sub("", line)))
        assert set(re.findall(r"[A-Za-z]+", bare)) <= {"A", "B"}, (path, line)


def test_chinese_has_its_own_marks_and_addresses_people_politely() -> None:
    for path, line in chinese():
        assert not re.search(r"[\u4e00-\u9fff][,;:?!.()]|[\"']", line), (path, line)
        assert line.count("“") == line.count("”"), (path, line)
        assert "你" not in QUOTED.sub("", line), (path, line)


def test_only_the_studys_values_stand_in_braces() -> None:
    for path, text in in_both_languages(DATA):
        for language in LANGUAGES:
            line = "\n".join(as_lines(text[language]))
            assert set(PLACEHOLDER.findall(line)) <= SETTINGS, path
            assert not re.search(r"[{}]", PLACEHOLDER.sub("", line)), path
    for language in LANGUAGES:
        whole = "\n".join(section["text"][language] for section in SECTIONS)
        assert sorted(PLACEHOLDER.findall(whole)) == sorted(SETTINGS)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section["title"]["en"])
def test_guidelines_keep_to_simple_markdown_of_the_same_shape(section: dict[str, Any]) -> None:
    shapes = {}
    for language, text in section["text"].items():
        tokens = MarkdownIt("commonmark").parse(text)
        kinds = {token.type for each in tokens for token in [each, *(each.children or [])]}
        assert kinds <= MARKDOWN, language
        shapes[language] = [token.type for token in tokens]
        assert "**" not in "".join(child.content for token in tokens for child in token.children or []), text
    assert shapes["en"] == shapes["zh-hans"]


def test_guidelines_take_three_to_five_minutes_to_read() -> None:
    """Careful reading: about 200 English words, or 300 Chinese characters, a minute."""
    words = sum(len(section["text"]["en"].split()) for section in SECTIONS)
    characters = sum(len(re.findall(r"[\u4e00-\u9fff]", section["text"]["zh-hans"])) for section in SECTIONS)
    assert 3 <= words / 200 <= 5
    assert 3 <= characters / 300 <= 5


def test_guidelines_name_dimensions_and_the_scale_as_the_page_does() -> None:
    """What the section on the scale uses as examples must be found by the same name on the page."""
    scale = next(section for section in SECTIONS if "Rhythm" in section["text"]["en"])
    named = [row for row in DIMENSIONS if re.search(rf"\b{row['name']['en']}\b", scale["text"]["en"])]
    assert {"rhythm", "code-switching", "micro-physiological-noise", "fillers"} <= {
        row["key"] for row in named
    }
    for row in named:
        assert f"“{row['name']['zh-hans']}”" in scale["text"]["zh-hans"], row["key"]
    for language, text in scale["text"].items():
        for words in (DATA["scale"]["points"][3], DATA["scale"]["no_evidence"]):
            assert words[language].lower() in text.lower(), language


def test_the_documents_table_says_what_the_file_says() -> None:
    document = (FILE.parents[2] / "docs" / "annotation.md").read_text(encoding="utf-8")
    for row in DIMENSIONS:
        cells = (
            row["name"]["en"],
            row["name"]["zh-hans"],
            f"`{row['key']}`",
            row["low"]["en"],
            row["high"]["en"],
        )
        assert f"| {' | '.join(cells)} |" in document, row["key"]
    for row in CATEGORIES:
        assert f"{row['name']['en']}** | **{row['name']['zh-hans']}** | `{row['key']}`" in document, row[
            "key"
        ]

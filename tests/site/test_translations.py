"""Committed translations: compiled as written, complete, placeholders kept, in step with the code."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "locale").glob("*/LC_MESSAGES/*.po"))
PLACE = re.compile(r"%\(\w+\)[sd]|%%")


def catalog(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def texts(value: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def by_message(messages: Catalog) -> dict[tuple[str | None, str], tuple[str, ...]]:
    return {
        (message.context, texts(message.id)[0]): texts(message.string)
        for message in messages
        if message.id and any(texts(message.string))
    }


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT / "locale"))


def test_chinese_is_there() -> None:
    assert ROOT / "locale/zh_Hans/LC_MESSAGES/django.po" in FILES


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_compiled_file_equals_its_source(path: Path) -> None:
    with path.with_suffix(".mo").open("rb") as file:
        compiled = by_message(read_mo(file))
    assert compiled == by_message(catalog(path))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_message_is_translated(path: Path) -> None:
    assert [m.id for m in catalog(path) if m.id and (m.fuzzy or not all(texts(m.string)))] == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_placeholders_survive_translation(path: Path) -> None:
    for message in catalog(path):
        if message.id:
            wanted = set(PLACE.findall(texts(message.id)[-1]))
            for text in texts(message.string):
                assert set(PLACE.findall(text)) == wanted, message.id


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="GNU gettext is not installed")
def test_every_text_of_the_code_is_in_the_catalogue(tmp_path: Path) -> None:
    copy = tmp_path / "project"
    left_out = ".git .venv var vendor tests bench *_cache __pycache__ *.mp3 *.wav".split()
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*left_out))
    options = ["--all", "--no-obsolete", "--no-location"]
    subprocess.run(
        [sys.executable, "manage.py", "makemessages", *options], cwd=copy, check=True, capture_output=True
    )
    for path in FILES:
        fresh = {(m.context, m.id) for m in catalog(copy / path.relative_to(ROOT)) if m.id}
        assert fresh == {(m.context, m.id) for m in catalog(path) if m.id}

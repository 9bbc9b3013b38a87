"""Every template parses, obeys the content security policy and names static files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.template import engines

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted(
    path
    for directory in [ROOT / "templates", *ROOT.glob("*/templates"), *ROOT.glob("games/*/templates")]
    for path in directory.rglob("*")
    if path.suffix in {".html", ".svg", ".txt"}
)
INLINE = {
    "style attribute": re.compile(r"<[^>]*\sstyle\s*=", re.IGNORECASE),
    "style element": re.compile(r"<style\b", re.IGNORECASE),
    "event attribute": re.compile(r"<[^>{]*\son[a-z]+\s*=", re.IGNORECASE),
    "script address": re.compile(r"javascript:", re.IGNORECASE),
}
SCRIPT = re.compile(r"<script\b([^>]*)>", re.IGNORECASE)
OTHER_HOST = re.compile(r"""(?:src|href|action)\s*=\s*["'](?:https?:)?//""", re.IGNORECASE)
STATIC = re.compile(r"""{%\s*static\s+["']([^"'{]+)["']""")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def without_comments(path: Path) -> str:
    text = re.sub(r"{%\s*comment.*?endcomment\s*%}", "", path.read_text(), flags=re.DOTALL)
    return re.sub(r"{#.*?#}", "", text)


def test_there_are_templates() -> None:
    assert len(TEMPLATES) > 20


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_template_parses(path: Path) -> None:
    engines["django"].from_string(path.read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_template_obeys_the_content_security_policy(path: Path) -> None:
    text = without_comments(path)
    for what, pattern in INLINE.items():
        assert not pattern.search(text), what
    for attributes in SCRIPT.findall(text):
        data_only = re.search(r"""type\s*=\s*["']application/(ld\+)?json["']""", attributes)
        assert "src=" in attributes or data_only, "inline script"
    for line in text.splitlines():
        if OTHER_HOST.search(line):
            assert "<a " in line, "only a link may lead to another host"


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_static_files_named_exist(path: Path) -> None:
    for name in STATIC.findall(path.read_text()):
        assert finders.find(name), name


def test_policy_allows_nothing_inline_and_no_other_host() -> None:
    for directive, sources in settings.CONTENT_SECURITY_POLICY["DIRECTIVES"].items():
        for source in sources:
            assert source in {"'self'", "'none'", "data:", "blob:"}, directive

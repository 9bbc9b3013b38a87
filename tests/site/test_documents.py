"""What the documents name exists: targets, commands, settings, checks, files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")])
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
COMMAND = re.compile(r"manage\.py ([a-z_]+)([^`\n|]*)")
CODE = re.compile(r"`([^`\n]+)`|```\w*\n(.*?)```", re.DOTALL)
NAME = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+|SECRET_KEY|DEBUG|BIND|PORT|LISTEN|CHROMIUM")
FOLDERS = ("turingsite", "studies", "dialogues", "games", "tests", "deploy", "docs", "bench")
ELSEWHERE = {"PROLIFIC_PID"}  # of others: a recruiter's parameter


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def code_in(path: Path) -> list[str]:
    return [one or two for one, two in CODE.findall(path.read_text())]


def environment() -> set[str]:
    """Names that something reads from the environment."""
    places = [
        "turingsite/settings/*.py",
        "deploy/*",
        "Makefile",
        "docker-compose.yml",
        "tests/servers_plugin.py",
        "bench/*.py",
    ]
    text = "\n".join(path.read_text() for place in places for path in ROOT.glob(place) if path.is_file())
    return set(re.findall(r"[A-Z][A-Z0-9_]{2,}", text))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_make_targets_named_exist(path: Path) -> None:
    for code in code_in(path):
        for words in re.findall(r"(?:^|[\s;&])make ([a-z]+(?: [a-z]+)*)", code):
            assert set(words.split()) <= TARGETS, code


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_and_their_options_exist(path: Path) -> None:
    for name, rest in COMMAND.findall(path.read_text()):
        commands = get_commands()
        assert name in commands, name
        app = commands[name]
        command = load_command_class(app, name) if isinstance(app, str) else app
        known = set(command.create_parser("manage.py", name)._option_string_actions)
        assert set(re.findall(r"(?<=\s)--[a-z-]+", rest.split("#")[0])) <= known, f"{name} {rest}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_settings_named_exist(path: Path) -> None:
    known = environment() | ELSEWHERE
    for code in code_in(path):
        for name in NAME.findall(code):
            assert name in known or hasattr(settings, name), name


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_files_linked_and_named_exist(path: Path) -> None:
    text = path.read_text()
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), target
    for code in code_in(path):
        for name in re.findall(
            r"^(?:turingsite|studies|dialogues|games|tests|deploy|docs|bench)/[\w/.-]+$", code
        ):
            assert (ROOT / name).exists(), name


def test_operator_knows_every_variable_and_every_check() -> None:
    text = (ROOT / "docs/operator.md").read_text()
    read = "\n".join(path.read_text() for path in (ROOT / "turingsite/settings").glob("*.py"))
    for name in re.findall(r"env\.\w+\(\s*\"(\w+)\"", read):
        if not name.startswith("TEST_"):
            assert f"`{name}`" in text, name
    for name in re.findall(r"turingsite\.[EW]\d{3}", (ROOT / "turingsite/checks.py").read_text()):
        assert f"`{name}`" in text, name


def test_every_decision_is_listed() -> None:
    text = (ROOT / "docs/adr/README.md").read_text()
    for path in (ROOT / "docs/adr").glob("0*.md"):
        assert f"({path.name})" in text, path.name


def test_every_benchmark_is_listed() -> None:
    from bench.run import names

    text = (ROOT / "bench/README.md").read_text()
    for name in names():
        assert f"`{name}`" in text, name


def test_continuous_integration_calls_the_same_words() -> None:
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & 0o111
    called = set(re.findall(r"^make ([a-z]+)", script.read_text(), re.MULTILINE))
    assert called == {"lint", "types", "test"}

"""Rules of the house that a reader of the tree may rely on."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from django.core.management import call_command
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MACHINE = re.compile(r"(^|[^A-Za-z0-9_.])/(work|root|farm|home/\w+|Users/\w+)/", re.MULTILINE)
HOSTS = re.compile("python" + r"hosted|registry\.npm" + r"js|deb\.deb" + "ian|files\\.python")
PIN = re.compile(r"^([a-z0-9-]+(?:\[[a-z,]+\])?==\S+)", re.MULTILINE)


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and "vendor" not in path.parts]


def text_of(path: Path) -> str:
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return ""


def modules() -> list[Path]:
    return [
        path
        for path in tracked()
        if path.suffix == ".py" and "tests" not in path.parts and "migrations" not in path.parts
    ]


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_imports_point_down() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_every_package_and_wiring_module_has_its_floor() -> None:
    contract = next(c for c in PROJECT["tool"]["importlinter"]["contracts"] if c["id"] == "floors")
    named = {name for layer in contract["layers"] for name in re.findall(r"[\w.]+", layer)}
    wiring = {
        f"turingsite.{path.stem}"
        for path in (ROOT / "turingsite").iterdir()
        if not path.name.startswith("_") and (path.suffix == ".py" or (path / "__init__.py").exists())
    }
    packages = {
        path.parent.name
        for path in ROOT.glob("*/__init__.py")
        if path.parent.name not in {"turingsite", "bench", "tests"}
    }
    assert wiring | packages <= named


def test_no_path_of_a_machine_and_no_registry_host() -> None:
    for path in tracked():
        if path.suffix != ".lock" and path != Path(__file__):
            text = text_of(path)
            assert not MACHINE.search(text), path
            assert not HOSTS.search(text), path


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_lock_names_no_address_and_hashes_everything(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert not re.search(r"^-", text, re.MULTILINE), "no option lines"
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(entries) > 50
    assert all("--hash=sha256:" in entry for entry in entries)


def test_development_lock_holds_the_run_lock() -> None:
    run, development = (PIN.findall((ROOT / f"requirements{part}.lock").read_text()) for part in ("", "-dev"))
    assert set(run) < set(development)


def test_modules_stay_readable() -> None:
    long = {str(path.relative_to(ROOT)): len(text_of(path).splitlines()) for path in modules()}
    assert {name: lines for name, lines in long.items() if lines > 400} == {}


def test_modules_are_named_after_what_is_in_them_and_say_so() -> None:
    for path in modules():
        assert path.stem not in {"utils", "helpers", "common", "misc", "managers"}, path
        text = text_of(path)
        if text.strip() and path.name != "manage.py":
            assert text.startswith('"""'), f"{path} has no docstring"


def test_no_exception_is_caught_blindly() -> None:
    for path in modules():
        assert not re.search(r"except Exception\b|except:", text_of(path)), path

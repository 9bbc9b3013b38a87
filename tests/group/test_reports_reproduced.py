"""The group game's headlines in an export: they are the reports' figures, and a script makes them anew."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from games.group import reproduce_group
from studies.exports import export_study
from studies.reports import run_report
from tests.factories import StudyFactory
from tests.group.played import Tables
from tests.group.test_reports import row, rows
from turingsite.stats import chance

pytestmark = pytest.mark.django_db


def unpack(tables: Tables, folder: Path, **chosen: Any) -> Path:
    out = folder.with_suffix(".zip")
    export_study(study=tables.study, path=out, **chosen)
    with zipfile.ZipFile(out) as archive:
        archive.extractall(folder)
    return folder


def run(folder: Path) -> tuple[int, str]:
    """The script as anybody would run it: a fresh interpreter, isolated from the project."""
    done = subprocess.run(
        [sys.executable, "-I", "reproduce_group.py"], cwd=folder, capture_output=True, text=True, timeout=120,
        env={"PYTHONIOENCODING": "utf-8"}, check=False,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


@pytest.fixture
def tables() -> Tables:
    tables = Tables()
    for at, out in enumerate((None, 1, 2, 3, None, 2, 1, None)):
        said = [
            (1, 0, 2.0, "where from?"),
            (1, 2, 5.25, "=here now"[: 5 + 4 * (at % 2)]),
            (1, 3, 9.0, "你好吗？"),
        ]
        tables.game(
            people=4 + at % 2, out=out, on_agent=1, language="zh" if at < 3 else "en",
            said=said[: 2 + at % 2],
            rules={"agent_votes": at != 4, **({"variant": "x"} if at == 5 else {})},
        )  # fmt: skip
    tables.game(end="abandoned")
    return tables


def test_the_script_makes_every_headline_and_tells_what_was_changed(tables: Tables, tmp_path: Path) -> None:
    folder = unpack(tables, tmp_path / "there", tier="public", formats=("csv", "jsonl"))
    headlines = json.loads((folder / "headlines_group.json").read_text())["headlines"]
    status, said = run(folder)
    assert status == 0, said
    assert said == f"{len(headlines)} of {len(headlines)} headlines come out of the tables (8 games).\n"
    result = run_report("group-survival", tables.study)
    of_all = [one for one in headlines if one["language"] == "all"]
    for baseline in ("elimination", "silent"):
        reported = row(result, "against_chance", by="all", baseline=baseline)
        (headline,) = [one for one in of_all if one.get("baseline") == baseline]
        assert (headline["n"], headline["survived"]) == (7, 3)
        assert headline["difference"] == pytest.approx(reported["difference"])
    words = rows(run_report("group-participation", tables.study), "talk", measure="words", by="all")
    told = [one["value"] for one in of_all if one.get("measure") == "words"]
    assert told == pytest.approx([one["value"] for one in words[:2]])
    table = folder / "tables" / "group_votes.csv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join(lines[:1] + lines[3:]) + "\n")
    status, said = run(folder)
    assert status == 1
    assert "group-votes, all: n is " in said


def test_without_games_there_are_no_headlines(tmp_path: Path) -> None:
    tables = Tables(StudyFactory())
    folder = unpack(tables, tmp_path / "there")
    assert not list(folder.glob("*group*"))
    assert not (folder / "group").exists()
    with pytest.raises(reproduce_group.Problem, match="missing"):
        reproduce_group.headlines_of(folder)


def test_the_script_reckons_chance_by_another_way() -> None:
    for living in (3, 4, 5, 6, 9):
        assert reproduce_group.silent_out(living) == chance.voting_out(living, agent_votes=False)

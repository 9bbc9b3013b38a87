"""The headlines of an export: they are the reports' figures, and the script in the zip makes them anew."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from scipy import special

from dialogues.models import Choice, Dialogue, Kind
from games.speech import reproduce
from studies.exports import export_study
from studies.reports import ANALYSIS_SETS, Options, ReportResult, run_report
from tests import factories
from tests.speech.played import Played

FIGURES = {"success-rate": ("success", "share"), "accuracy": ("by_kind", "accuracy")}


@pytest.fixture
def played(db: None) -> Played:
    """Two languages, a system that few heard, a pseudo-human without system, rows that do not count."""
    played = Played()
    quiet = factories.SystemFactory(name="Quiet", code="quiet", languages=["zh"])
    rare = played.dialogue(Kind.HUMAN_MACHINE, 31.0, system=quiet, language="zh")
    pseudo = played.dialogue(Kind.PSEUDO_HUMAN, 61.5, system=None, language="zh")
    person = [played.dialogue(Kind.HUMAN_HUMAN, 30.0, language="zh") for _unused in range(3)]
    Dialogue.objects.filter(pk=person[0].pk).update(origin=Dialogue.Origin.values[0])
    Dialogue.objects.filter(pk=person[1].pk).update(origin=Dialogue.Origin.values[1])
    for at, one in enumerate(played.people):
        said = Choice.HUMAN if at % 3 else Choice.MACHINE
        played.verdict(one, pseudo, said, round_finished=at % 4 > 0)
        played.verdict(one, person[0], Choice.HUMAN, round_number=1 + at % 2)
        played.verdict(one, person[1], said, protocol_breaks=["too_fast"] if at == 4 else [])
    played.verdict(played.people[0], rare, Choice.HUMAN)
    played.verdict(played.people[2], rare, Choice.HUMAN, exclusion="known")
    played.verdict(played.people[3], person[2], Choice.UNSCORED)
    return played


@pytest.fixture
def unpacked(played: Played, tmp_path: Path) -> Path:
    return unpack(played, tmp_path / "unpacked")


def unpack(played: Played, folder: Path, **chosen: Any) -> Path:
    out = folder.with_suffix(".zip")
    export_study(study=played.study, path=out, **chosen)
    with zipfile.ZipFile(out) as archive:
        archive.extractall(folder)
    return folder


def run(folder: Path) -> tuple[int, str]:
    """The script as anybody would run it: a fresh interpreter, isolated from the project."""
    done = subprocess.run(
        [sys.executable, "-I", "reproduce.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def row_of(report: ReportResult, headline: dict[str, Any]) -> dict[str, Any]:
    table = next(one for one in report.tables if one.key == FIGURES[headline["report"]][0])
    which = "speaker" if headline["report"] == "success-rate" else "kind"
    (row,) = [
        one for one in table.rows if one["language"] == headline["language"] and one[which] == headline[which]
    ]
    return dict(row)


def test_headlines_are_the_figures_of_the_reports(played: Played, unpacked: Path) -> None:
    headlines = json.loads((unpacked / "headlines.json").read_text())["headlines"]
    reports = {
        (name, one): run_report(name, played.study, Options(one)) for name in FIGURES for one in ANALYSIS_SETS
    }
    for headline in headlines:
        row = row_of(reports[headline["report"], headline["set"]], headline)
        figure = FIGURES[headline["report"]][1]
        assert headline["n"] == row["n"]
        assert (headline["persons"], headline["dialogues"]) == (row["persons"], row["dialogues"])
        for mine, theirs in (("value", figure), ("low", "low"), ("high", "high")):
            assert headline[mine] == pytest.approx(row[theirs], abs=1e-12), headline
    # And none is left out.
    for (name, chosen), report in reports.items():
        table = next(one for one in report.tables if one.key == FIGURES[name][0])
        listed = [one for one in headlines if (one["report"], one["set"]) == (name, chosen)]
        assert len(listed) == len(table.rows) > 8
    assert any(one["value"] is None and one["n"] for one in headlines)
    assert {one["language"] for one in headlines} == {"all", "en", "zh"}


@pytest.mark.parametrize("formats", [("csv",), ("jsonl",), ("parquet",)])
def test_the_script_in_the_zip_makes_every_headline(
    played: Played, tmp_path: Path, formats: tuple[str, ...]
) -> None:
    folder = unpack(played, tmp_path / "there", formats=formats, bom=True)
    status, words = run(folder)
    count = len(json.loads((folder / "headlines.json").read_text())["headlines"])
    assert words == f"{count} of {count} headlines come out of the tables (101 verdicts of people).\n"
    assert status == 0


def test_the_script_works_on_the_public_tier(played: Played, tmp_path: Path) -> None:
    status, words = run(unpack(played, tmp_path / "public", tier="public"))
    assert status == 0, words


def test_the_script_imports_the_standard_library_alone() -> None:
    source = Path(reproduce.__file__).read_text()
    modules = {
        line.split()[1].partition(".")[0]
        for line in source.splitlines()
        if line.startswith(("import ", "from "))
    }
    assert modules <= set(sys.stdlib_module_names)


def test_a_table_that_was_tampered_with_is_told(unpacked: Path) -> None:
    path = unpacked / "tables" / "verdicts.csv"
    text = path.read_text()
    assert ",speech,0,machine," in text
    path.write_text(text.replace(",speech,0,machine,", ",speech,0,human,", 12))
    status, words = run(unpacked)
    assert status == 1
    assert "tables/verdicts.csv is not as it was written: its SHA-256 differs." in words
    assert "success-rate, machines, language all, set all: value is " in words
    assert "from the tables." in words


def test_a_tampered_table_is_told_by_its_figures_also_where_the_hash_was_mended(unpacked: Path) -> None:
    path = unpacked / "tables" / "verdicts.csv"
    path.write_text(path.read_text().replace(",speech,0,machine,", ",speech,0,human,", 12))
    manifest = json.loads((unpacked / "manifest.json").read_text())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for entry in manifest["files"]:
        if entry["path"] == "tables/verdicts.csv":
            entry["sha256"] = digest
    (unpacked / "manifest.json").write_text(json.dumps(manifest))
    status, words = run(unpacked)
    assert status == 1
    assert "SHA-256" not in words
    assert "accuracy, H-M, language all, set all: value is " in words


def test_a_headline_that_was_tampered_with_is_told(unpacked: Path) -> None:
    path = unpacked / "headlines.json"
    found = json.loads(path.read_text())
    found["headlines"][0]["n"] += 1
    path.write_text(json.dumps(found))
    status, words = run(unpacked)
    assert status == 1
    assert "headlines.json is not as it was written" in words
    assert ": n is " in words


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tables/verdicts.csv", "tables/verdicts is missing: unpack the whole export first."),
        ("headlines.json", "headlines.json is missing: the export was cut off"),
        ("manifest.json", "manifest.json is missing: the export was cut off"),
    ],
)
def test_a_file_that_is_missing_is_told(unpacked: Path, name: str, said: str) -> None:
    (unpacked / name).unlink()
    status, words = run(unpacked)
    assert status == 1
    assert said in words
    assert "Traceback" not in words


def test_a_table_without_a_column_is_told(unpacked: Path) -> None:
    path = unpacked / "tables" / "dialogues.csv"
    path.write_text(path.read_text().replace("kind", "sort", 1))
    status, words = run(unpacked)
    assert status == 1
    assert "cannot be read as they were written: KeyError('kind')" in words


def test_a_study_without_verdicts_has_headlines_without_values(db: None, tmp_path: Path) -> None:
    study = factories.StudyFactory(slug="empty")
    out = tmp_path / "empty.zip"
    export_study(study=study, path=out)
    folder = tmp_path / "empty"
    shutil.unpack_archive(out, folder)
    headlines = json.loads((folder / "headlines.json").read_text())["headlines"]
    assert headlines
    assert all(one["value"] is None and one["n"] == 0 for one in headlines)
    assert run(folder)[0] == 0


@pytest.mark.parametrize("df", [1, 2, 3, 5, 9, 30, 200, 20_000])
def test_the_script_has_the_quantile_of_t(df: int) -> None:
    assert reproduce.t_quantile(df) == pytest.approx(float(special.stdtrit(df, 0.975)), rel=1e-11)

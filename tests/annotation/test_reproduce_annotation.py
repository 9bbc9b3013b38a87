"""The annotation's headlines in an export: they are the reports' figures, and a script makes them anew."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotation import reproduce_annotation
from annotation.models import Layer, Score
from dialogues.models import Dialogue
from studies.exports import export_study
from studies.models import Study
from studies.registry import reports
from studies.reports import Options, run_report
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Three raters on eight dialogues in two languages, a third of the scores revised, some not analysed."""
    study = factories.annotated_study(dialogues=8, raters=3)
    rng = random.Random(5)
    for number, dialogue in enumerate(Dialogue.objects.order_by("pk")):
        Dialogue.objects.filter(pk=dialogue.pk).update(language="zh" if number % 3 == 0 else "en")
    for score in Score.objects.order_by("pk"):
        heard = rng.random() < 0.8
        score.value, score.evidence = (rng.randint(1, 5) if heard else 3), heard
        score.save()
    for score in Score.objects.order_by("pk"):
        if rng.random() < 0.4:
            Score.objects.create(
                study=study, rater=score.rater, dialogue=score.dialogue, dimension=score.dimension,
                layer=Layer.TRUTH_SHOWN, revises=score, value=rng.randint(1, 5), given_at=factories.NOW,
            )  # fmt: skip
    item = study.annotation  # one rater's scores of one dialogue are left out
    assert item is not None
    first = Score.objects.order_by("pk")[0].item
    assert first is not None
    first.exclusion = "known"
    first.save()
    return study


def unpack(study: Study, folder: Path, **chosen: Any) -> Path:
    out = folder.with_suffix(".zip")
    export_study(study=study, path=out, **chosen)
    with zipfile.ZipFile(out) as archive:
        archive.extractall(folder)
    return folder


def run(folder: Path) -> tuple[int, str]:
    """The script as anybody would run it: a fresh interpreter, isolated from the project."""
    done = subprocess.run(
        [sys.executable, "-I", "reproduce_annotation.py"], cwd=folder, capture_output=True, text=True,
        timeout=120, env={"PYTHONIOENCODING": "utf-8"}, check=False,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def headlines_in(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "headlines_annotation.json").read_text())["headlines"]
    return found


@pytest.mark.parametrize("formats", [("csv",), ("jsonl",), ("parquet",)])
def test_the_script_in_the_zip_makes_every_headline(
    study: Study, tmp_path: Path, formats: tuple[str, ...]
) -> None:
    folder = unpack(study, tmp_path / "there", formats=formats, bom=True)
    count = len(headlines_in(folder))
    assert count == 3 * (18 + 19)
    assert any(one["alpha"] for one in headlines_in(folder) if one["report"] == "agreement")
    status, words = run(folder)
    assert words.startswith(f"{count} of {count} headlines come out of the tables"), words
    assert status == 0


@pytest.mark.parametrize("chosen", [{"tier": "public"}, {"tier": "internal"}, {"language": "zh"}])
def test_the_script_works_on_every_tier_and_on_one_language(
    study: Study, tmp_path: Path, chosen: dict[str, str]
) -> None:
    status, words = run(unpack(study, tmp_path / "some", **chosen))
    assert status == 0, words


def test_a_changed_score_is_noticed(study: Study, tmp_path: Path) -> None:
    folder = unpack(study, tmp_path / "changed", formats=("jsonl",))
    path = folder / "tables" / "scores.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    row = next(one for one in lines if one["evidence"] and not one["exclusion"] and one["layer"] == "raw")
    row["score"] = 5 if row["score"] < 4 else 1
    path.write_text("\n".join(map(json.dumps, lines)))
    status, words = run(folder)
    assert status == 1
    assert f"agreement, raw, all, {row['dimension']}: alpha is" in words


def test_headlines_are_the_figures_of_the_reports(study: Study, tmp_path: Path) -> None:
    assert {"agreement", "revision-impact"} <= set(reports.keys())
    found = headlines_in(unpack(study, tmp_path / "out"))
    for language in ("", "en", "zh"):
        mine = [one for one in found if one["language"] == (language or "all")]
        agreement = run_report("agreement", study, Options(language=language, layer="raw"))
        rows = {row["dimension"]: row for row in agreement.tables[0].rows}
        for one in (one for one in mine if one["report"] == "agreement"):
            row = rows[one["dimension"]]
            assert (one["n"], one["dialogues"]) == (row["n"], row["dialogues"])
            if row["alpha"] is not None:
                assert one["alpha"] == pytest.approx(row["alpha"], abs=1e-12)
        revision = run_report("revision-impact", study, Options(language=language))
        rows = {row["dimension"]: row for row in revision.tables[0].rows if row["source"] == "study"}
        for one in (one for one in mine if one["report"] == "revision-impact"):
            row = rows[one["dimension"]]
            assert (one["n"], one["changed"]) == (row["n"], row["changed"])
            for name in ("share", "rmse", "ratio"):
                assert one[name] == pytest.approx(row[name], abs=1e-12), (language, one, name)


def test_studies_without_scores_have_neither_file(tmp_path: Path) -> None:
    study = factories.speech_study()
    manifest = export_study(study=study, path=tmp_path / "out.zip")
    assert not [one["path"] for one in manifest["files"] if "annotation.json" in one["path"]]
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert "reproduce_annotation.py" not in archive.namelist()
        assert "reproduce.py" in archive.namelist()


def test_the_script_imports_the_standard_library_alone() -> None:
    source = Path(reproduce_annotation.__file__).read_text()
    modules = {
        line.split()[1].partition(".")[0]
        for line in source.splitlines()
        if line.startswith(("import ", "from "))
    }
    assert modules <= sys.stdlib_module_names


def test_alpha_is_that_of_the_textbook() -> None:
    rows = (
        (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
        (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
        (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
        (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
    )
    units = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
    assert reproduce_annotation.alpha(units) == pytest.approx(0.815, abs=5e-4)
    assert reproduce_annotation.alpha([[4, 4], [4, 4, 4]]) is None
    assert reproduce_annotation.percent([[4, 4], [4, 4, 4]]) == 1

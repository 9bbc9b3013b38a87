"""Scores out and in again: the same rows, whichever way they went."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.importing.services import File, import_scores
from annotation.importing.setting import How
from annotation.models import Layer, Score
from annotation.services.labels import export_scores
from annotation.services.taxonomies import copy_taxonomy
from dialogues.models import Dialogue, StudyItem, Verdict
from studies.exports import TIERS, export_study
from studies.models import AuditLine, ExportFile, Participant, Study
from studies.registry import datasets
from studies.services.erasing import erase
from tests import factories
from tests.annotation.labelled import Labelled

pytestmark = [pytest.mark.both, pytest.mark.django_db]

#: What cannot come back: codes are drawn anew, and a file is where the scores now come from.
NEW = {"rater", "source"}


@pytest.fixture
def labelled() -> Labelled:
    labelled = Labelled()
    for person in labelled.people:
        Verdict.objects.create(
            study=labelled.study, rater=person.rater, dialogue=labelled.dialogues[0], activity="annotation",
            choice="machine", confidence=4, given_at=factories.NOW,
        )  # fmt: skip
    return labelled


@pytest.fixture
def fresh(labelled: Labelled) -> Study:
    """Another study with the same dialogues."""
    study = factories.StudyFactory(slug="fresh", activities=["annotation"])
    factories.AnnotationSettingsFactory(study=study)
    for dialogue in Dialogue.objects.filter(study_items__study=labelled.study):
        StudyItem.objects.create(study=study, dialogue=dialogue)
    return study


def scores(study: Study) -> list[dict[str, Any]]:
    """The scores' table, raters under the name that the first study knows them by."""
    names = {
        person.code: person.recruiter_key.removeprefix("import:") or person.code
        for person in Participant.objects.filter(study=study)
    }
    rows = [
        {**{name: value for name, value in row.items() if name not in NEW}, "who": names[row["rater"]]}
        for row in datasets.get("scores").rows(study)
    ]
    return sorted(rows, key=lambda row: json.dumps(row, default=str))


def choices(study: Study) -> set[tuple[Any, ...]]:
    rows = Verdict.objects.filter(study=study, activity="annotation")
    return set(rows.values_list("dialogue", "choice", "confidence", "exclusion"))


def differences(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        for name in left:
            if left[name] != right[name]:
                yield name, left[name], right[name]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_table_of_an_export_comes_back_as_it_was(
    labelled: Labelled, fresh: Study, tmp_path: Path, kind: str
) -> None:
    there = {(row["layer"], row["repeat"]) for row in scores(labelled.study)}
    assert there == {("raw", 0), ("raw", 1), ("blind-expert", 0), ("truth-shown", 0)}
    assert {row["evidence"] for row in scores(labelled.study)} == {True, False}
    path = tmp_path / "export.zip"
    export_study(study=labelled.study, path=path, formats=(kind,), bom=kind == "csv")
    done = import_scores(file=File(path.read_bytes(), path.name), slug="fresh", how=How())
    assert set(done.counts) == {"accepted"}
    assert done.notes == []
    assert list(differences(scores(labelled.study), scores(fresh))) == []
    revised = Score.objects.filter(study=fresh, layer=Layer.TRUTH_SHOWN)
    assert revised.count() == 3
    assert all(one.revises and one.revises.layer == Layer.RAW for one in revised)
    again = import_scores(file=File(path.read_bytes(), path.name), slug="fresh", how=How())
    assert again.counts == {"unchanged": len(done.rows)}


@pytest.mark.parametrize("tier", TIERS)
def test_every_tier_brings_the_same_values(
    labelled: Labelled, fresh: Study, tmp_path: Path, tier: str
) -> None:
    path = tmp_path / "export.zip"
    export_study(study=labelled.study, path=path, tier=tier)
    import_scores(file=File(path.read_bytes(), path.name), slug="fresh", how=How())
    found = {name for name, *_values in differences(by_values(labelled.study), by_values(fresh))}
    assert found == set()


def by_values(study: Study) -> list[dict[str, Any]]:
    times = ("given_at", "changed_at")
    rows = [{name: row[name] for name in row if name not in times} for row in scores(study)]
    return sorted(rows, key=lambda row: json.dumps(row, default=str))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_file_of_labels_comes_back_byte_for_byte(
    labelled: Labelled, fresh: Study, tmp_path: Path, kind: str
) -> None:
    one, other = tmp_path / f"one.{kind}", tmp_path / f"other.{kind}"
    call_command("export_scores", str(one), study="scored", stdout=io.StringIO(), stderr=io.StringIO())
    call_command("import_scores", str(one), study="fresh", stdout=io.StringIO())
    call_command("export_scores", str(other), study="fresh", stdout=io.StringIO(), stderr=io.StringIO())
    lines, back = (sorted(path.read_text(encoding="utf-8").splitlines()) for path in (one, other))
    assert lines == back
    assert len(lines) == Score.objects.filter(study=labelled.study).count() + (kind == "csv")
    assert list(differences(scores(labelled.study), scores(fresh))) == []
    assert choices(fresh) == choices(labelled.study)


def test_back_into_its_own_study_nothing_changes(labelled: Labelled, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    export_scores(study=labelled.study, path=path)
    before = list(Score.objects.order_by("pk").values())
    done = import_scores(file=File(path.read_bytes(), path.name), slug="scored", how=How())
    assert set(done.counts) == {"unchanged"}
    assert list(Score.objects.order_by("pk").values()) == before
    assert Participant.objects.filter(study=labelled.study).count() == 3


def test_the_wide_form_keeps_layers_values_and_evidence(
    labelled: Labelled, fresh: Study, tmp_path: Path
) -> None:
    path = tmp_path / "wide.csv"
    out = io.StringIO()
    call_command("export_scores", str(path), study="scored", wide=True, stdout=out, stderr=io.StringIO())
    partial = 1 + 3  # of the open item; the truth-shown layer has three scores
    assert "8 lines" in out.getvalue()
    assert f"{partial} scores are not in it" in out.getvalue()
    done = import_scores(file=File(path.read_bytes(), path.name), slug="fresh", how=How())
    assert done.counts == {"accepted": 8 * 18}

    def values(study: Study) -> set[tuple[Any, ...]]:
        names = (
            "who",
            "dialogue",
            "dimension",
            "layer",
            "repeat",
            "purpose",
            "exclusion",
            "score",
            "evidence",
        )
        return {tuple(row[name] for name in names) for row in scores(study)}

    whole = {one for one in values(labelled.study) if one[3] != "truth-shown" and one[6] != "unfinished"}
    assert values(fresh) == whole
    assert choices(fresh) == choices(labelled.study)


def test_scores_of_several_taxonomies_find_theirs(labelled: Labelled, fresh: Study, tmp_path: Path) -> None:
    copy = copy_taxonomy(taxonomy=labelled.study.annotation.taxonomy, study=labelled.study)
    factories.ScoreFactory(
        rater=labelled.people[0].rater,
        dialogue=labelled.dialogues[0],
        dimension=copy.dimensions.get(key="accent"),
        value=1,
    )
    path = tmp_path / "labels.jsonl"
    export_scores(study=labelled.study, path=path)
    import_scores(file=File(path.read_bytes(), path.name), slug="fresh", how=How())
    assert list(differences(scores(labelled.study), scores(fresh))) == []
    assert Score.objects.filter(study=fresh, dimension__taxonomy=copy).count() == 1


def test_a_file_of_labels_is_a_look_and_goes_stale_with_an_erasure(
    labelled: Labelled, tmp_path: Path
) -> None:
    path, early = tmp_path / "labels.csv", io.StringIO()
    call_command("export_scores", str(path), study="scored", stdout=io.StringIO(), stderr=early)
    assert "early look" in early.getvalue()
    line = AuditLine.objects.get(action="study.exported")
    assert line.detail["n"] == Score.objects.filter(study=labelled.study).count()
    erase(participant=labelled.people[0])
    assert ExportFile.objects.get(path=str(path.resolve())).stale_since is not None


def test_bad_places_are_told(labelled: Labelled, tmp_path: Path) -> None:
    for path, words in (
        (tmp_path / "labels.xlsx", ".csv or .jsonl"),
        (tmp_path, "is a folder"),
        (tmp_path / "nowhere" / "labels.csv", "can't be written"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command(
                "export_scores", str(path), study="scored", stdout=io.StringIO(), stderr=io.StringIO()
            )
    with pytest.raises(CommandError, match="There is no study"):
        call_command("export_scores", str(tmp_path / "a.csv"), study="none", stdout=io.StringIO())
    assert not ExportFile.objects.exists()

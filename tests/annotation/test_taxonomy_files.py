"""Taxonomies as files, written, loaded and told by line; the annotation's part of a study file."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Attempt, Taxonomy
from annotation.services.settings import change_annotation_settings, prepare, settings_of
from annotation.services.taxonomies import DEFAULT, copy_taxonomy, default_taxonomy
from annotation.services.taxonomy_editing import load_taxonomy
from annotation.taxonomy_file import as_yaml, body_of, check
from studies import files
from studies.services.filing import apply_study_file
from tests import factories
from turingsite.errors import Conflict

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def text() -> str:
    return DEFAULT.read_text(encoding="utf-8")


def problems(data: str) -> list[tuple[int, str, str]]:
    return [(one.line, one.key, one.message) for one in check(data.encode()).errors]


def line_of(data: str, words: str) -> int:
    return data[: data.index(words)].count("\n") + 1


def test_what_is_written_loads_to_the_same_words() -> None:
    study = factories.StudyFactory(slug="mine")
    shipped = default_taxonomy()
    checked = check(as_yaml(shipped).encode())
    assert checked.values is not None
    assert checked.problems == []
    made = load_taxonomy(study=study, body=checked.values)
    assert str(made) == "mine-human-likeness-18 v1"
    assert body_of(made) | {"name": ""} == body_of(shipped) | {"name": ""}
    assert str(load_taxonomy(study=study, body=checked.values | {"name": made.name})) == f"{made.name} v2"


def test_a_section_for_calibration_alone_stays_one() -> None:
    study = factories.StudyFactory(slug="mine")
    shipped = default_taxonomy()
    checked = check(as_yaml(shipped).encode())
    assert checked.values is not None
    made = load_taxonomy(study=study, body=checked.values)
    copy = copy_taxonomy(taxonomy=shipped, study=study)
    for one in (shipped, made, copy):
        found = {part["title"]["en"]: part.get("when") for part in one.guidelines["sections"]}
        assert [name for name, when in found.items() if when] == ["Calibration"]
        assert found["Calibration"] == "calibration"
    [(_line, key, said)] = problems(text().replace("when: calibration ", "when: callibration "))
    assert key.endswith("when")
    assert "“callibration” is not known here." in said


def test_the_file_that_ships_is_right() -> None:
    checked = check(DEFAULT.read_bytes())
    assert checked.problems == []
    assert checked.values is not None
    assert sum(len(one["dimensions"]) for one in checked.values["categories"]) == 18


def test_wrong_lines_are_told() -> None:
    data = text()
    for good, bad, said in (
        ("key: logical-coherence", "key: memory-consistency", "“memory-consistency” stands here twice."),
        ("key: rhythm", "key: memory-consistency", "“memory-consistency” stands here twice."),
        ("key: rhythm", "key: Rhythm!", "Small letters a to z, figures and dashes only."),
        (
            "        low: { en: Misreads words, zh-hans: 读错字、多音字 }\n",
            "",
            "The key “low” is missing.",
        ),
        ("low: { en: Misreads words,", 'low: { en: "",', "English is missing (en)."),
        ("  neutral: 3", "  neutral: 0", "0 lies outside of 3 to 3."),
        ("    4: { en: Rather human-like", "    6: { en: Rather human-like", "There is no key “6” here."),
    ):
        assert good in data
        found = problems(data.replace(good, bad, 1))
        assert any(said in words for _line, _key, words in found), (bad, found)
    wrong = data.replace("name: { en: Rhythm", "nmae: { en: Rhythm", 1)
    (first, second) = sorted(problems(wrong), key=lambda one: "Did you mean" not in one[2])
    assert first[0] == line_of(wrong, "nmae")
    assert first[2].endswith("Did you mean “name”?")
    assert second[2] == "The key “name” is missing."


def test_missing_chinese_is_a_hint() -> None:
    data = text().replace("{ en: Misreads words, zh-hans: 读错字、多音字 }", "{ en: Misreads words }", 1)
    checked = check(data.encode())
    assert checked.values is not None
    assert [one.key for one in checked.problems] == ["categories[1].dimensions[3].low"]


@pytest.mark.parametrize("data", [b"", b"- 1", b"\xff", b"a: &x 1", b"categories: 3", b"x" * 1_100_000])
def test_files_that_are_none_are_refused_in_words(data: bytes) -> None:
    checked = check(data)
    assert checked.values is None
    assert checked.errors


def applied(values: dict[str, Any]) -> Any:
    checked = files.check(files.as_yaml(values).encode())
    assert checked.values is not None, [str(one) for one in checked.errors]
    return apply_study_file(values=checked.values)


@pytest.fixture
def study(db: None) -> Any:
    from studies import services

    made = services.create_study(
        slug="mine",
        title_en="Mine",
        title_zh="我的",
        host="X",
        contact="a@b.org",
        user=factories.UserFactory(),
    )
    prepare(made)
    return made


def test_a_study_file_holds_the_annotation(study: Any) -> None:
    change_annotation_settings(study=study, raters=5, calibration=False, gold_share=0.1)
    values = files.describe(study)
    held = values["settings"]["annotation"]
    assert (held["raters"], held["calibration"], held["gold_share"]) == (5, False, 0.1)
    assert held["taxonomy"] == str(default_taxonomy())
    _same, changes = applied(values)
    assert changes == []
    held["rate_per_hour"] = 30.1
    _again, changes = applied(values | {"slug": "other"})
    assert any(one.key == "settings.annotation.raters" for one in changes)
    made = settings_of(_again)
    assert (made.raters, str(made.rate_per_hour)) == (5, "30.10")


def test_a_study_without_annotation_has_none_of_it() -> None:
    assert "annotation" not in files.describe(factories.StudyFactory(activities=["speech"]))["settings"]


def test_taxonomies_are_named_by_version_and_have_to_be_there(study: Any) -> None:
    mine = copy_taxonomy(taxonomy=default_taxonomy(), study=study)
    values = files.describe(study)
    values["settings"]["annotation"]["taxonomy"] = str(mine)
    applied(values)
    assert settings_of(study).taxonomy == mine
    values["settings"]["annotation"]["taxonomy"] = "nothing v3"
    data = files.as_yaml(values)
    (problem,) = files.check(data.encode()).errors
    assert problem.line == line_of(data, "nothing v3")
    assert "Load its file first" in problem.message
    other = factories.StudyFactory()
    values["settings"]["annotation"]["taxonomy"] = str(
        copy_taxonomy(taxonomy=Taxonomy.objects.get(pk=mine.pk), study=other)
    )
    with pytest.raises(Conflict):
        applied(values)


def test_what_it_takes_to_pass_is_fixed_once_somebody_calibrated(study: Any) -> None:
    batch = factories.BatchFactory(annotator__participant__study=study)
    Attempt.objects.create(annotator=batch.annotator, number=1, started_at=factories.NOW)
    values = files.describe(study)
    values["settings"]["annotation"] |= {"calibration_clear": 0.5, "batch_size": 6}
    with pytest.raises(Conflict, match="calibration_clear"):
        applied(values)
    values["settings"]["annotation"]["calibration_clear"] = 0.6
    applied(values)
    assert settings_of(study).batch_size == 6

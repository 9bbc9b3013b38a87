"""The quality report of a study's dialogues, from the database and from an export alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialogues import services
from dialogues.models import Dialogue, Flag, Kind
from studies.exports import export_study
from studies.report_formats import FORMATS
from studies.reports import Options, ReportResult, run_report, run_report_from
from tests import factories

pytestmark = pytest.mark.django_db


def quality(*, gap: float, b: float, rate: int = 16_000) -> dict[str, Any]:
    return {
        "play": {"duration": 30.0, "bytes_per_second": 6000.0},
        "source": {"format": "WAV", "subtype": "PCM_16", "sample_rate": rate, "channels": 1},
        "gaps": {"heard": {"mean": gap}, "after": {"mean": 0.2}},
        "loudness": {"before": {"A": -20.0, "B": b}, "after": {"A": -18.0, "B": -18.0}},
        "result": {
            "turn_count": 6,
            "overlaps": {"count": 1},
            "speech_share": {"A": 0.5, "B": 0.5},
            "noise_floor": {"A": -60.0, "B": -70.0, "pauses": -65.0},
            "bandwidth_hz": 4000.0,
            "leading_silence": 0.1,
        },
    }


@pytest.fixture
def study(db: None) -> Any:
    study = factories.StudyFactory()
    rows = [
        (Kind.HUMAN_HUMAN, "en", quality(gap=0.3, b=-21.0)),
        (Kind.HUMAN_HUMAN, "zh", quality(gap=0.5, b=-23.0)),
        (Kind.HUMAN_MACHINE, "en", quality(gap=1.5, b=-30.0, rate=24_000)),
        (Kind.HUMAN_MACHINE, "en", {}),
    ]
    for kind, language, numbers in rows:
        dialogue = factories.DialogueFactory(kind=kind, language=language, quality=numbers)
        factories.StudyItemFactory(study=study, dialogue=dialogue)
        if not numbers:
            Dialogue.objects.filter(pk=dialogue.pk).update(state=Dialogue.State.FAILED)
        if kind == Kind.HUMAN_HUMAN:
            dialogue.flags.create(rule="duration", value=12.0)
    factories.DialogueFactory(quality=quality(gap=9.0, b=-9.0))  # of no study
    return study


def rows(result: ReportResult, table: str) -> list[Any]:
    return list(next(one.rows for one in result.tables if one.key == table))


def test_medians_stand_kind_beside_kind(study: Any) -> None:
    result = run_report("recordings", study)
    assert result.basis.dialogues == 4
    human, machine, everything = rows(result, "sound")
    assert (human["kind"], human["n"]) == ("H-H", 2)
    assert (human["gap_before"], human["b_before"]) == pytest.approx((0.4, -22.0))
    assert (machine["kind"], machine["n"], machine["gap_before"]) == ("H-M", 1, 1.5)
    assert (everything["n"], everything["gap_before"]) == (3, 0.5)
    assert everything["b_after"] == -18.0


def test_states_sources_and_flags_are_counted(study: Any) -> None:
    result = run_report("recordings", study)
    states = {(r["kind"], r["state"]): r["n"] for r in rows(result, "states")}
    assert states[("H-M", "failed")] == 1
    assert states[("all", "ready")] == 3
    sources = {(r["kind"], r["rate"]): r["n"] for r in rows(result, "sources")}
    assert sources == {("H-H", 16_000): 2, ("H-M", 24_000): 1, ("all", 16_000): 2, ("all", 24_000): 1}
    [human, everything] = rows(result, "flags")
    assert (human["rule"], human["n"], human["share"]) == ("duration", 2, 1.0)
    assert everything["share"] == 0.5


def test_flags_that_a_person_rejected_are_counted_apart(study: Any) -> None:
    flag = Flag.objects.first()
    assert flag is not None
    services.review_flag(dialogue=flag.dialogue, flag_id=flag.pk, review="rejected", user=None)
    [human, everything] = rows(run_report("recordings", study), "flags")
    assert (human["n"], human["share"], human["rejected"]) == (1, 0.5, 1)
    assert (everything["n"], everything["share"], everything["rejected"]) == (1, 0.25, 1)


def test_one_language_can_be_chosen(study: Any) -> None:
    result = run_report("recordings", study, Options(language="zh"))
    assert [(r["kind"], r["n"]) for r in rows(result, "sound")] == [("H-H", 1), ("all", 1)]


def test_without_dialogues_there_is_no_number(db: None) -> None:
    [everything] = rows(run_report("recordings", factories.StudyFactory()), "sound")
    assert (everything["n"], everything["duration"], everything["note"]) == (0, None, "none processed")


def test_the_export_gives_the_same_report(study: Any, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    export_study(study=study, path=path)
    assert run_report_from("recordings", path).tables == run_report("recordings", study).tables


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_format_can_be_read(study: Any, form: str) -> None:
    text = FORMATS[form](run_report("recordings", study))
    assert "H-M" in text
    assert "-30" in text


def test_people_read_levels_and_lengths_without_false_decimals(study: Any) -> None:
    text = FORMATS["md"](run_report("recordings", study, Options()))
    assert "| -22.0 |" in text  # the middle of B's -21 and -23
    assert "| 0.40 |" in text  # a gap has two

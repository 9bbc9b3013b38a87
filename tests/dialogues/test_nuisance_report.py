"""The nuisance audit: what tells kinds apart is found and warned of, what doesn't is left in peace."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from sklearn.metrics import roc_auc_score

from dialogues.models import Dialogue, Kind, StudyItem
from studies.exports import export_study
from studies.models import Study
from studies.registry import reports
from studies.report_formats import FORMATS
from studies.reports import ReportResult, run_report, run_report_from
from tests import factories
from turingsite import stats

pytestmark = pytest.mark.django_db

KINDS = (Kind.HUMAN_HUMAN, Kind.HUMAN_MACHINE, Kind.PSEUDO_HUMAN)
EACH = 20


def quality(draw: np.random.Generator, kind: str) -> dict[str, Any]:
    """Numbers that say nothing of the kind, but for the bandwidth, which is narrower in humans."""
    return {
        "play": {"bytes_per_second": draw.normal(6000, 50)},
        "gaps": {"after": {"mean": draw.normal(0.4, 0.1)}},
        "loudness": {"after": {"A": draw.normal(-18, 0.2), "B": draw.normal(-18, 0.2)}},
        "result": {
            "turn_count": int(draw.integers(4, 9)),
            "noise_floor": {"A": None, "B": draw.normal(-70, 2)},
            "bandwidth_hz": draw.normal(4000 if kind == Kind.HUMAN_HUMAN else 7000, 100),
            "leading_silence": draw.normal(0.1, 0.02),
        },
    }


@pytest.fixture
def study(db: None) -> Study:
    study: Study = factories.StudyFactory(slug="audited")
    draw = np.random.default_rng(8)
    for place in range(EACH):
        for kind in KINDS:
            dialogue = factories.DialogueFactory(
                kind=kind,
                quality=quality(draw, kind),
                play_duration=float(draw.normal(40, 5)),
                source_corpus="Broadcast" if kind == Kind.PSEUDO_HUMAN and place < 18 else "Studio",
            )
            factories.StudyItemFactory(study=study, dialogue=dialogue)
    return study


def row(result: ReportResult, table: str, comparison: str, feature: str) -> Any:
    found = next(one.rows for one in result.tables if one.key == table)
    (one,) = [r for r in found if (r["comparison"], r["feature"]) == (comparison, feature)]
    return one


def test_what_tells_kinds_apart_is_warned_of(study: Study) -> None:
    result = run_report("nuisance-audit", study)
    found = row(result, "features", "human_machine", "bandwidth")
    assert (found["auc"], found["warning"], found["first_n"], found["other_n"]) == (0.0, True, 20, 40)
    assert row(result, "features", "hm_ph", "bandwidth")["warning"] is False
    together = row(result, "model", "human_machine", "together")
    assert (together["auc"] > 0.95, together["warning"]) == (True, True)
    corpus = row(result, "model", "hm_ph", "source_corpus")
    assert (corpus["auc"] > 0.85, corpus["warning"]) == (True, True)
    assert "beyond" in result.notes[0]


def test_auc_is_that_of_the_dialogues(study: Study) -> None:
    rows = list(Dialogue.objects.exclude(kind=Kind.HUMAN_HUMAN).values_list("kind", "play_duration"))
    expected = roc_auc_score([kind == Kind.HUMAN_MACHINE for kind, _ in rows], [length for _, length in rows])
    found = row(run_report("nuisance-audit", study), "features", "hm_ph", "length")
    assert found["auc"] == pytest.approx(expected)
    assert found["low"] < expected < found["high"]


def test_what_was_not_measured_has_no_figure(study: Study) -> None:
    found = row(run_report("nuisance-audit", study), "features", "human_machine", "noise_a")
    assert (found["auc"], found["warning"], found["note"]) == (None, None, "n = 0, not enough")


def test_check_items_and_unprocessed_dialogues_are_left_out(study: Study) -> None:
    check = factories.DialogueFactory(kind=Kind.HUMAN_HUMAN)
    factories.StudyItemFactory(study=study, dialogue=check, role=StudyItem.Role.ATTENTION, expected="human")
    factories.StudyItemFactory(study=study, dialogue=factories.DialogueFactory(state=Dialogue.State.WAITING))
    assert run_report("nuisance-audit", study).basis.dialogues == 3 * EACH


def test_declared_dialogues_count_by_their_length() -> None:
    study = factories.StudyFactory()
    for place in range(24):
        kind = Kind.HUMAN_MACHINE if place % 2 else Kind.PSEUDO_HUMAN
        dialogue = factories.DialogueFactory(
            kind=kind, state=Dialogue.State.DECLARED, recording=None, play_duration=30.0 + 10 * (place % 2)
        )
        factories.StudyItemFactory(study=study, dialogue=dialogue)
    result = run_report("nuisance-audit", study)
    assert row(result, "features", "hm_ph", "length")["auc"] == 1.0
    assert row(result, "features", "human_machine", "length")["note"] == "n = 0, not enough"
    assert row(result, "model", "hm_ph", "source_corpus")["note"] == "the same for all"


def test_a_model_that_only_learnt_noise_is_no_warning(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    low = stats.Estimate(0.2, 60, 0.1)
    monkeypatch.setattr(stats, "cross_validated_auc", lambda *_given: low)
    found = row(run_report("nuisance-audit", study), "model", "hm_ph", "together")
    assert (found["auc"], found["warning"]) == (0.2, False)


def test_few_dialogues_and_none_have_no_figures() -> None:
    study = factories.StudyFactory()
    for kind in KINDS:
        factories.StudyItemFactory(study=study, dialogue=factories.DialogueFactory(kind=kind))
    for audited in (study, factories.StudyFactory()):
        result = run_report("nuisance-audit", audited)
        assert all(one["auc"] is None for table in result.tables for one in table.rows)
        assert all(written(result) for written in FORMATS.values())


def test_languages_stand_apart(study: Study) -> None:
    half = list(Dialogue.objects.values_list("pk", flat=True))[::2]
    Dialogue.objects.filter(pk__in=half).update(language="zh")
    table = next(one for one in run_report("nuisance-audit", study).tables if one.key == "features")
    counted = {one["language"]: one["first_n"] for one in table.rows if one["comparison"] == "human_machine"}
    assert counted["all"] == EACH == counted["en"] + counted["zh"]


def test_command_report_and_export_give_the_same(study: Study, tmp_path: Path) -> None:
    printed, reported = StringIO(), StringIO()
    call_command("audit_stimuli", "--study", "audited", "--format", "json", stdout=printed)
    call_command("report", "nuisance-audit", "--study", "audited", "--format", "json", stdout=reported)
    path = tmp_path / "audited.zip"
    export_study(study=study, path=path)
    assert printed.getvalue() == reported.getvalue()
    assert FORMATS["json"](run_report_from("nuisance-audit", path)) == printed.getvalue()
    assert json.loads(printed.getvalue())["dialogues"] == 3 * EACH


def test_strict_fails_where_there_is_a_warning(study: Study) -> None:
    with pytest.raises(CommandError, match="beyond"):
        call_command("audit_stimuli", "--study", "audited", "--strict", stdout=StringIO())
    with pytest.raises(CommandError, match="no study"):
        call_command("audit_stimuli", "--study", "nowhere", stdout=StringIO())


def test_no_verdict_is_looked_at() -> None:
    assert "verdicts" not in reports.get("nuisance-audit").datasets

"""Why a figure is not shown, in the words of the rows: the reason that holds, and no impossible interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dialogues.models import Choice, Kind, System
from studies.models import Study
from studies.reports import run_report
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def system(db: None) -> System:
    made: System = factories.SystemFactory(code="talker")
    return made


def played(system: System, *, people: int = 6, machines: int, humans: int = 0) -> Study:
    """Everybody judges every dialogue of 30 s, answers in turn."""
    study: Study = factories.StudyFactory()
    factories.SpeechSettingsFactory(study=study)
    kinds = [Kind.HUMAN_MACHINE] * machines + [Kind.HUMAN_HUMAN] * humans
    dialogues = [factories.DialogueFactory(kind=kind, system=system, play_duration=30.0) for kind in kinds]
    for dialogue in dialogues:
        factories.StudyItemFactory(study=study, dialogue=dialogue)
    for place in range(people):
        person = factories.ParticipantFactory(study=study)
        for number, dialogue in enumerate(dialogues):
            said = Choice.HUMAN if (place * number + place // 2) % 3 else Choice.MACHINE
            factories.VerdictFactory(
                study=study, rater=person.rater, dialogue=dialogue, choice=said, round_number=1
            )
    return study


def row(study: Study, report: str, table: str, **wanted: Any) -> Mapping[str, Any]:
    result = run_report(report, study)
    [rows] = [one.rows for one in result.tables if one.key == table]
    return next(one for one in rows if wanted.items() <= one.items())


def test_two_dialogues_of_a_system_are_no_comparison(system: System) -> None:
    study = played(system, machines=2, humans=4)
    assert row(study, "success-rate", "success", speaker="talker")["share"] is not None
    for table, figure in (("difference", "difference"), ("discrimination", "dprime")):
        got = row(study, "success-rate", table, speaker="talker")
        assert (got[figure], got["low"], got["p"]) == (None, None, None)
        assert got["note"] == "fewer than 3 dialogues or persons"


def test_a_difference_of_shares_stays_between_minus_one_and_one(system: System) -> None:
    got = row(played(system, people=4, machines=3, humans=3), "success-rate", "difference", speaker="talker")
    assert got["df"] == 2
    assert -1 <= got["low"] <= got["low90"] <= got["difference"] <= got["high90"] <= got["high"] <= 1


@pytest.mark.parametrize(
    ("people", "machines", "humans", "note"),
    [(9, 1, 0, "one dialogue"), (1, 5, 4, "one person"), (1, 2, 2, "n = 2, not enough")],
)
def test_one_person_or_one_dialogue_is_called_so(
    system: System, people: int, machines: int, humans: int, note: str
) -> None:
    study = played(system, people=people, machines=machines, humans=humans)
    assert row(study, "success-rate", "success", speaker="talker")["note"] == note


def test_clips_of_one_length_have_no_trend_and_no_course(system: System) -> None:
    study = played(system, machines=4, humans=4)
    assert row(study, "duration-trend", "trend", kind="all")["note"] == "one length bin"
    assert row(study, "by-round", "round_slope", kind="all", people="everybody")["note"] == "one round"


def test_machines_alone_have_no_balanced_accuracy(system: System) -> None:
    study = played(system, machines=4)
    assert row(study, "accuracy", "by_kind", kind="balanced")["note"] == "one kind only"
    assert row(study, "by-round", "told_apart", round="1")["note"] == "one kind only"

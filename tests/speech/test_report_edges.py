"""Every registered report with next to nothing to report on: no crash, no figure, and words that say why."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import pytest

from dialogues.models import Choice, Kind
from studies.models import Study
from studies.registry import reports
from studies.report_formats import FORMATS
from studies.reports import ANALYSIS_SETS, Options, ReportResult, run_report
from tests import factories

pytestmark = pytest.mark.django_db

#: Figures that persons and dialogues are samples of.
FIGURES = ("share", "accuracy", "dprime", "c_value", "slope", "difference", "others", "statistic", "pearson")
SIZES = (0, 1, 6)
KINDS = {
    "humans": (Kind.HUMAN_HUMAN,),
    "machines": (Kind.HUMAN_MACHINE,),
    "both": (Kind.HUMAN_HUMAN, Kind.PSEUDO_HUMAN),
}


class Shape(NamedTuple):
    people: int
    dialogues: int
    kinds: str
    choices: str  # everybody's answers, in turn

    @property
    def is_thin(self) -> bool:
        """One person or one dialogue at the most."""
        return min(self.people, self.dialogues) < 2


SHAPES = [
    Shape(people, dialogues, kinds, choices)
    for people, dialogues, kinds, choices in product(SIZES, SIZES, KINDS, ("h", "hm"))
    if people * dialogues or (kinds, choices) == ("both", "h")  # without answers the rest is the same
]


def made(shape: Shape) -> Study:
    study = factories.StudyFactory()
    factories.SpeechSettingsFactory(study=study)
    profile = factories.QuestionnaireFactory(study=study)
    system = factories.SystemFactory(benchmark={"Score": 50})
    strategy = factories.StrategyFactory()
    dialogues = []
    for number in range(shape.dialogues):
        kind = KINDS[shape.kinds][number % len(KINDS[shape.kinds])]
        dialogues.append(
            factories.DialogueFactory(
                kind=kind, system=system, strategy=strategy if kind == Kind.HUMAN_MACHINE else None
            )
        )
        factories.StudyItemFactory(study=study, dialogue=dialogues[-1])
    for place in range(shape.people):
        person = factories.ParticipantFactory(study=study)
        factories.AnswerFactory(rater=person.rater, questionnaire=profile)
        for number, dialogue in enumerate(dialogues):
            letter = shape.choices[(place + number) % len(shape.choices)]
            factories.VerdictFactory(
                study=study,
                rater=person.rater,
                dialogue=dialogue,
                choice=Choice.HUMAN if letter == "h" else Choice.MACHINE,
                round_number=number % 2 + 1,
            )
    return study


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "-".join(map(str, shape)))
def test_next_to_nothing_is_no_figure_and_no_crash(shape: Shape) -> None:
    study = made(shape)
    for report in reports:
        result = run_report(report.key, study)
        if "verdicts" in report.datasets:
            assert result.basis.n == shape.people * shape.dialogues
            check(result, shape)
            for chosen in ANALYSIS_SETS:
                check(run_report(report.key, study, Options(chosen)), shape)
        for written in FORMATS.values():
            assert written(result)
        report.figures(result)
    elsewhere = run_report("accuracy", study, Options(language="zh"))
    assert elsewhere.basis.n == 0


def check(result: ReportResult, shape: Shape) -> None:
    for table in result.tables:
        shown = {heading.key for heading in table.headings} & set(FIGURES)
        for row in table.rows:
            if shape.is_thin:
                assert all(row.get(figure) is None for figure in shown), (result.key, table.key, row)
            if shown and all(row.get(figure) is None for figure in shown):
                assert row["note"], (result.key, table.key, row)
            for key, value in row.items():
                assert value == value, (result.key, table.key, key)  # no NaN anywhere

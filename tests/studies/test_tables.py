"""Tables read by column are the tables read by row: every dataset, all columns or some."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogues.models import Choice, Flag, Kind, Verdict
from studies import columnar
from studies.registry import datasets
from studies.tables import Table
from tests import factories
from tests.speech.played import Played

pytestmark = [pytest.mark.django_db, pytest.mark.both]


@pytest.fixture
def played(db: None) -> Played:
    played = Played()
    person = played.people[0]
    evidence = {"length": 31.25, "heard": 0.1 + 0.2, "device": "mobile", "left": "human", "answer_ms": 12}
    late = played.dialogue(Kind.PSEUDO_HUMAN, 33.3, quality={"play": {"duration": 1e-7}, "words": "ünï ' \""})
    played.verdict(
        person, late, Choice.UNSCORED, evidence=evidence, reason={"ticks": ["voice"], "text": "so"},
        protocol_breaks=["too_fast", "not_listened"], confidence=4,
        given_at=factories.NOW + timedelta(microseconds=123457),
    )  # fmt: skip
    played.verdict(
        played.people[1], late, Choice.HUMAN, evidence={"length": None}, protocol_breaks=["too_fast"]
    )
    Flag.objects.create(dialogue=late, rule="speaker-balance", value=0.1, source="quality")
    profile = factories.QuestionnaireFactory(study=played.study)
    factories.AnswerFactory(rater=person.rater, questionnaire=profile)
    factories.AnswerFactory(rater=person.rater, questionnaire=profile, question="many", value=["a", "b"])
    player = factories.SpeechPlayerFactory(participant=person)
    one = factories.RoundFactory(player=player)
    verdict = Verdict.objects.filter(rater=person.rater).first()
    assert verdict is not None
    factories.TrialFactory(
        round=one, dialogue=verdict.dialogue, verdict=verdict, ranges=[[0.0, 30.1]], draw={"chosen": 3}
    )
    return played


def test_every_dataset_is_the_same_by_column_and_by_row(played: Played) -> None:
    for dataset in datasets:
        rows = list(dataset.rows(played.study))
        table = dataset.table(played.study)
        assert list(table) == rows, dataset.key
        for row, again in zip(rows, table, strict=True):
            assert [type(value) for value in row.values()] == [type(value) for value in again.values()]


def test_columns_alone_are_those_of_the_whole(played: Played) -> None:
    for dataset in datasets:
        names = [one.name for one in dataset.columns]
        whole = dataset.table(played.study)
        for name in names:
            alone = dataset.table(played.study, (name,))
            assert alone.column(name) == whole.column(name), (dataset.key, name)


def test_more_rows_than_a_chunk_keep_their_order(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "CHUNK", 7)
    assert list(datasets.get("verdicts").table(played.study)) == list(
        datasets.get("verdicts").rows(played.study)
    )


def test_a_table_is_a_sequence_of_rows() -> None:
    table = Table.of([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    assert (len(table), table[1], table.column("a")) == (2, {"a": 2, "b": "y"}, [1, 2])
    assert list(table[1:]) == [{"a": 2, "b": "y"}]
    assert Table.of([]).column("anything") == []
    with pytest.raises(KeyError):
        table.column("c")
    with pytest.raises(ValueError, match="one entry per row"):
        Table({"a": [1], "b": []}, 1)

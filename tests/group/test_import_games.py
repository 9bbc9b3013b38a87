"""Games from files: the open logs and our own format, what is told of bad ones, once for twice, and back."""

from __future__ import annotations

import json
import shutil
import zipfile
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from django.core.management import CommandError, call_command

from dialogues.models import Turn
from games.group.importing import READERS
from games.group.interchange import GAMES_FILE, SCHEMA_FILE, schema_text
from games.group.models import Game
from games.group.services.dialogues import store_dialogue
from games.room.models import Event
from studies.exports import export_study
from studies.models import Answer, AuditLine, Participant, Rater, Study
from studies.reports import ReportResult, run_report
from studies.services.erasing import erase
from tests.factories import (
    AnswerFactory,
    ConsentFactory,
    ConsentTextFactory,
    QuestionnaireFactory,
    StudyFactory,
)
from tests.group.played import Tables
from tests.group.test_reports import KEYS, about, row, rows

pytestmark = pytest.mark.django_db

LLMAFIA = Path(__file__).resolve().parents[3] / "shared" / "data" / "llmafia"
published_logs = pytest.mark.skipif(not LLMAFIA.is_dir(), reason=f"no open logs at {LLMAFIA}")


def imported(path: Path, *more: str, form: str = "jsonl", study: str = "elsewhere") -> str:
    out = StringIO()
    call_command(
        "import_games", str(path), "--format", form, "--study", study, *more, stdout=out, no_color=True
    )
    return out.getvalue()


@pytest.fixture
def elsewhere(db: None) -> Study:
    return StudyFactory(slug="elsewhere", activities=["group"])


# The open logs


@published_logs
def test_the_open_logs_through_the_ordinary_reports() -> None:
    told = imported(LLMAFIA, "--create", form="llmafia")
    assert "18 accepted, 3 accepted with a warning, 0 unchanged, 0 refused" in told
    assert "votes are by or for players who were out" in told
    study = Study.objects.get(slug="elsewhere")
    assert AuditLine.objects.get(action="group_games.imported").detail["games"] == 21
    survival = run_report("group-survival", study)
    alive = row(survival, "survival", by="all")
    assert (alive["games"], alive["survived"], alive["share"]) == (21, 7, about(1 / 3))
    assert row(survival, "against_chance", by="all")["note"] == "other rules: no chance level"
    votes = run_report("group-votes", study)
    first = row(votes, "first_round", by="all")
    assert (first["n"], first["on_agent"]) == (141, 30)
    assert first["chance"] == about(0.146, 5e-4)
    ties = row(votes, "ties")
    assert (ties["rounds"], ties["consistent"], ties["ties"], ties["first"]) == (58, 55, 14, 14)
    assert ties["decided"] == "first"
    assert ties["p_first"] < 0.001
    talk = run_report("group-participation", study)
    words = {one["who"]: one for one in rows(talk, "talk", by="all", measure="words")}
    assert (words["people"]["n"], words["people"]["value"]) == (1817, about(3.92, 0.005))
    assert (words["agent"]["n"], words["agent"]["value"]) == (261, about(9.89, 0.005))
    survey = run_report("group-survey", study)
    human = {one["scale"]: one for one in rows(survey, "means", by="all", question="human_likeness")}
    assert {scale: one["n"] for scale, one in human.items()} == {"0–100": 43, "1–5": 97}
    assert 0 < human["1–5"]["mean"] < 5 < human["0–100"]["mean"] < 100
    game = Game.objects.get(external_id="llmafia:0001")
    assert game.dialogue
    assert (game.dialogue.modality, game.dialogue.study_items.count()) == ("text", 0)
    assert game.dialogue.parties.get(nature="machine").label == "Bailey"
    again = imported(LLMAFIA, form="llmafia")
    assert "0 accepted, 0 accepted with a warning, 21 unchanged" in again
    assert Game.objects.count() == 21


@published_logs
def test_damaged_logs_are_told_by_file_and_line_and_the_others_come_in(
    tmp_path: Path, elsewhere: Study
) -> None:
    for name in ("0001", "0002", "0003", "0004", "0005"):
        shutil.copytree(LLMAFIA / "raw" / name, tmp_path / name)
    chat = tmp_path / "0001" / "public_daytime_chat.txt"
    lines = chat.read_text().splitlines()
    chat.write_text(
        "\n".join([*lines[:3], "[14:99:00] Lee: hi", "no clock", "[14:20:00] Nobody: hi", *lines[3:]])
    )
    (tmp_path / "0002" / "config.json").write_text("{")
    (tmp_path / "0003" / "public_manager_chat.txt").unlink()
    (tmp_path / "0004" / "Robin_survey.txt").write_text("timing of messaging - 300\nnonsense\nComments:\n")
    told = imported(tmp_path, form="llmafia")
    for words in (
        "public_daytime_chat.txt, line 4 is not “[HH:MM:SS] name: text”",
        "public_daytime_chat.txt, line 5 is not",
        "public_daytime_chat.txt, line 6: no player is called “Nobody”",
        "config.json is no configuration of a game",
        "public_manager_chat.txt is missing",
        "Robin_survey.txt, line 1: 300 is outside 0 to 100",
        "Robin_survey.txt, line 2 is not “question - number”",
        "1 accepted, 0 accepted with a warning, 0 unchanged, 4 refused",
    ):
        assert words in told
    assert Game.objects.get().external_id == "llmafia:0005"
    with pytest.raises(CommandError, match="no folder of a game"):
        imported(tmp_path / "0001" / "nowhere", form="llmafia")


# Our own format


@pytest.fixture
def tables() -> Tables:
    """Nine games: talk, a tie, a test, a pilot, people who agreed to publication, a message withdrawn."""
    tables = Tables()
    said = [
        (1, 0, 2.0, "where from?"),
        (1, 2, 5.25, "here, you?"),
        (1, 3, 31.5, "你好吗？"),
        (2, 1, 1.0, "=so"),
    ]
    words = ConsentTextFactory(study=tables.study)
    form = QuestionnaireFactory(
        study=tables.study, key="after-group", questions=[{"key": "gave_away", "kind": "text"}]
    )
    for at, out in enumerate((None, 1, 2, 3, None, 1, 2)):
        game = tables.game(
            people=4,
            out=out,
            on_agent=2 if out == 1 else 1,
            language="zh" if at == 3 else "en",
            said=said if out != 1 else said[:3],
        )
        person = Rater.objects.filter(participant__seats__room=game.room).order_by("pk")[0]
        ConsentFactory(participant=person.participant, text=words, publish_text=at % 2 == 0)
        AnswerFactory(
            rater=person, questionnaire=form, question="human_likeness", value=str(1 + at % 5),
            scale=["1", "2", "3", "4", "5"], about=game.code,
        )  # fmt: skip
        AnswerFactory(
            rater=person, questionnaire=form, question="gave_away", value="it was slow", scale=[],
            about=game.code,
        )  # fmt: skip
    Event.objects.filter(room=game.room, seq=2).update(text="[withdrawn]", withdrawn=True)
    tied = game.eliminations.get(round=1)
    tied.tied, tied.draw = [tied.seat.code, game.room.seats.get(position=0).code], {"seed": "1:tie:1"}
    tied.save()
    Participant.objects.filter(seats__room=tables.game(people=3).room).update(is_pilot=True)
    Participant.objects.filter(seats__room=tables.game(people=3).room).update(is_test=True)
    return tables


def _figures(result: ReportResult) -> Any:
    return result.basis, [(table.key, table.rows) for table in result.tables], result.notes


def test_an_export_comes_back_with_the_same_reports(tables: Tables, tmp_path: Path, elsewhere: Study) -> None:
    export_study(study=tables.study, path=tmp_path / "export.zip", tier="public")
    with zipfile.ZipFile(tmp_path / "export.zip") as archive:
        text = archive.read(GAMES_FILE).decode()
        schema = json.loads(archive.read(SCHEMA_FILE))
    assert schema == json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for line in text.splitlines():
        jsonschema.validate(json.loads(line), schema, jsonschema.Draft202012Validator)
    assert text.count("where from?") == 4  # of those who agreed
    assert text.count("it was slow") == 4
    assert "2026-03-02T" not in text
    path = tmp_path / "games.jsonl"
    path.write_text(text, encoding="utf-8")
    assert "9 accepted" in imported(path, "--dry-run")
    assert not elsewhere.group_games.exists()
    assert "9 accepted" in imported(path)
    for key in KEYS:
        assert _figures(run_report(key, elsewhere)) == _figures(run_report(key, tables.study)), key
    assert "0 accepted, 0 accepted with a warning, 9 unchanged" in imported(path)
    assert "9 unchanged" in imported(path, study=tables.study.slug)
    people = Participant.objects.filter(study=elsewhere)
    assert set(people.values_list("end_state", "source")) == {("done", "import")}


BAD: list[tuple[dict[str, Any], str]] = [
    ({"format": "other"}, "format is “other”"),
    ({"id": None}, "id is missing"),
    ({"language": "fr"}, "language is “fr”"),
    ({"end": "won"}, "end is “won”"),
    ({"rounds": 0}, "rounds is “0”"),
    ({"day": "yesterday"}, "day is “yesterday”"),
    ({"surprise": 1}, "surprise is no part of the format"),
    ({"rules": {"agent_votes": "yes"}}, "rules.agent_votes is “yes”"),
    ({"seats": []}, "There are 0 players"),
    ({"votes": [{"round": "1", "voter": "a", "target": None}]}, "votes 1.round is “1”"),
    ({"eliminations": [{"round": 1, "seat": "b"}]}, "eliminations 1.living is missing"),
    ({"log": [{"kind": "message", "round": 1, "phase": "discussion", "second": -1, "seat": "a"}]},
     "log 1.second is “-1”"),
    ({"log": [{"kind": "message", "round": 1, "phase": "discussion", "second": 1}]}, "log 1.seat is missing"),
    ({"survey": [{"seat": "a", "question": "human?", "value": "1"}]}, "survey 1.question is “human?”"),
]  # fmt: skip
CONTRADICTS: list[tuple[dict[str, Any], str]] = [
    ({"votes": [{"round": 1, "voter": "x", "target": "b"}]}, "votes 1.voter: there is no seat “x”"),
    ({"votes": [{"round": 1, "voter": "a", "target": "a"}]}, "a votes for themselves in round 1"),
    ({"votes": [{"round": 1, "voter": "a", "target": "b"}] * 2}, "a votes twice in round 1"),
    ({"eliminations": [{"round": 1, "seat": "b", "living": 3}]}, "their seat says otherwise"),
    ({"end": "agent_out"}, "The game ended with the AI out, but its seat was never put out"),
]


def _good(**changes: Any) -> dict[str, Any]:
    game: dict[str, Any] = {
        "format": "turingsite-group-game-1", "id": "g1", "language": "en", "end": "survived", "rounds": 1,
        "seats": [
            {"seat": "a", "nature": "human"},
            {"seat": "b", "nature": "human"},
            {"seat": "m", "nature": "machine"},
        ],
    }  # fmt: skip
    return {key: value for key, value in {**game, **changes}.items() if value is not None}


def test_reader_and_schema_refuse_the_same(tmp_path: Path) -> None:
    validator = jsonschema.Draft202012Validator(
        json.loads(schema_text()), format_checker=jsonschema.FormatChecker()
    )
    assert validator.is_valid(_good())
    for changes, _words in BAD:
        assert not validator.is_valid(_good(**changes)), changes
    for changes, _words in CONTRADICTS:
        assert validator.is_valid(_good(**changes)), changes


def test_every_fault_is_told_by_line_and_the_good_games_come_in(tmp_path: Path, elsewhere: Study) -> None:
    path = tmp_path / "games.jsonl"
    wrong = [*BAD, *CONTRADICTS]
    texts = [
        json.dumps(_good(id="good")),
        "{not json",
        "[1]",
        json.dumps(_good(id="nan", rules={"x": float("nan")})),
        *(json.dumps(_good(**{"id": f"bad{at}", **changes})) for at, (changes, _words) in enumerate(wrong)),
        json.dumps(_good(id="good", end="cancelled")),
        json.dumps(_good(id="late", votes=[{"round": 1, "voter": "a", "target": None}])),
    ]
    path.write_text("\n".join(texts), encoding="utf-8")
    told = imported(path)
    assert "x line    2" in told
    assert "The line is no JSON: it breaks at character 2" in told
    assert "The line is no JSON object" in told
    for at, (_changes, words) in enumerate(wrong):
        assert words in told, words
        assert f"x line {at + 5:>4}" in told
    assert "another game with the id “good” above" in told
    assert f"2 accepted, 0 accepted with a warning, 1 unchanged, {len(wrong) + 3} refused" in told
    assert set(Game.objects.values_list("external_id", "end")) == {("good", "survived"), ("late", "survived")}
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(CommandError, match="Every row was refused"):
        imported(path)
    with pytest.raises(CommandError, match="There is no study"):
        imported(path, study="nowhere")
    with pytest.raises(CommandError, match="can't be read"):
        imported(tmp_path / "none.jsonl")


def test_the_day_may_be_said_and_people_are_the_same_in_all_their_games(
    tmp_path: Path, elsewhere: Study
) -> None:
    path = tmp_path / "games.jsonl"
    seats = [{**seat, "person": seat["seat"] * 3} for seat in _good()["seats"]]
    survey = [
        {"seat": "a", "question": "human_likeness", "value": "70", "scale": [str(n) for n in range(101)]}
    ]
    games = [_good(id=f"g{at}", seats=seats, survey=survey) for at in range(2)]
    path.write_text("\n".join(map(json.dumps, games)), encoding="utf-8")
    imported(path, "--day", "2025-01-31")
    assert {game.room.opened_at.date() for game in Game.objects.all()} == {date(2025, 1, 31)}
    assert Participant.objects.filter(study=elsewhere).count() == 2
    assert {(one.value, len(one.scale)) for one in Answer.objects.all()} == {("70", 101)}
    with pytest.raises(CommandError, match="--day"):
        imported(path, "--day", "soon")
    assert set(READERS) == {"llmafia", "jsonl"}


def test_a_game_becomes_a_dialogue_that_erasure_empties(tables: Tables) -> None:
    game = tables.study.group_games.get(number=1)
    dialogue = store_dialogue(game)
    assert dialogue
    assert store_dialogue(game) == dialogue
    assert (dialogue.modality, dialogue.kind, dialogue.study_items.count()) == ("text", "human_machine", 0)
    natures = list(dialogue.parties.order_by("pk").values_list("label", "nature"))
    assert natures == [
        ("Alder", "human"), ("Birch", "human"), ("Cedar", "machine"), ("Elm", "human"), ("Hazel", "human"),
    ]  # fmt: skip
    assert dialogue.parties.get(nature="machine").rater == tables.agent.machine.rater
    turns = Turn.objects.filter(dialogue=dialogue).order_by("index")
    assert [(turn.start, turn.text) for turn in turns][:2] == [(2.0, "where from?"), (5.25, "here, you?")]
    person = game.room.seats.get(position=0).participant
    assert person
    erase(participant=person)
    assert [turn.text for turn in turns.all()][:2] == ["[withdrawn]", "here, you?"]
    later = tables.study.group_games.get(number=7)
    other = store_dialogue(later)
    assert other
    assert [turn.text for turn in other.turns.order_by("index")][1] == "[withdrawn]"
    assert store_dialogue(tables.study.group_games.get(number=9)) is not None

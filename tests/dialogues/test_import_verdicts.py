"""Verdicts given elsewhere: every row taken in or told, people under new codes, again changes nothing."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import translation

from dialogues.importing.manifest import read_manifest
from dialogues.importing.verdict_columns import VERDICTS
from dialogues.importing.verdict_services import Imported, import_verdicts
from dialogues.models import Dialogue, StudyItem, Verdict
from studies.models import Answer, AuditLine, Participant, Study
from studies.services.erasing import erase
from tests import factories

pytestmark = pytest.mark.django_db

FILE = """dialogue,rater,choice,time,age,gender
d1,ann,human,2025-03-01T12:30:00+08:00,23,女
d2,ann,机器,2025-03-01T12:31:00+08:00,23,女
d1,bo,Machine,2025-03-02,46+,Man
d2,bo,unscored,,46+,Man
"""


@pytest.fixture(autouse=True)
def corpus(db: None) -> None:
    for name in ("d1", "d2", "d3"):
        factories.DialogueFactory(external_id=name)


def take(text: str, slug: str = "elsewhere", create: bool = True, name: str = "v.csv") -> Imported:
    return import_verdicts(manifest=read_manifest(text.encode(), name, VERDICTS), slug=slug, create=create)


def codes(done: Imported) -> list[set[str]]:
    return [{note.code for note in row.notes} for row in done.rows]


def everything() -> dict[str, Any]:
    tables = (Study, Participant, Answer, Verdict, StudyItem, AuditLine)
    return {table.__name__: list(table._default_manager.order_by("pk").values()) for table in tables}


def run(path: Path, *options: str) -> tuple[str, str]:
    out = io.StringIO()
    try:
        call_command("import_verdicts", str(path), "--study", "elsewhere", *options, stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


def test_a_file_makes_the_study_its_people_and_their_verdicts() -> None:
    done = take(FILE)

    assert done.counts == {"accepted": 4}
    study = Study.objects.get(slug="elsewhere")
    assert (done.created, study.status) == (True, Study.Status.DRAFT)
    assert set(study.items.values_list("dialogue__external_id", flat=True)) == {"d1", "d2"}
    verdicts = Verdict.objects.filter(study=study).order_by("pk")
    assert [v.choice for v in verdicts] == ["human", "machine", "machine", "unscored"]
    assert {(v.activity, v.exclusion, v.round_finished, v.repeat) for v in verdicts} == {
        ("speech", "", True, 0)
    }
    assert verdicts[0].given_at == datetime(2025, 3, 1, 4, 30, tzinfo=UTC)
    people = Participant.objects.filter(study=study)
    assert {p.source for p in people} == {"import"}
    assert not {p.code for p in people} & {"ann", "bo"}
    ann = people.get(recruiter_key="import:ann")
    assert dict(ann.rater.answers.values_list("question", "value")) == {"age": "18-25", "gender": "female"}
    assert ann.rater.answers.get(question="age").scale[-1] == "prefer_not"


def test_the_same_file_again_changes_nothing() -> None:
    take(FILE)
    before = everything()

    assert take(FILE).counts == {"unchanged": 4}
    assert everything() == before


def test_a_longer_file_adds_only_what_is_new() -> None:
    take(FILE)
    done = take(FILE + "d3,ann,human,,,\nd1,cy,human,,,\n")

    assert done.counts == {"unchanged": 4, "accepted": 2}
    assert Participant.objects.filter(source="import").count() == 3
    assert Verdict.objects.filter(rater__participant__recruiter_key="import:ann").count() == 3


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("d9,ann,human", "unknown_dialogue"),
        (",ann,human", "no_dialogue"),
        ("d1,,human", "no_rater"),
        ("d1,ann@example.org,human", "rater_is_address"),
        (f"d1,{'x' * 121},human", "bad_rater"),
        ("d1,ann,", "no_choice"),
        ("d1,ann,perhaps", "unknown_choice"),
        ("d1,ann,bot", "unknown_choice"),
        ("d1,ann,human,yesterday", "bad_time"),
        ("d1,ann,human,2025-02-31", "bad_time"),
        ("d1,ann,human,2999-01-01", "future_time"),
        ("d1,ann,human,,0", "bad_round"),
        ("d1,ann,human,,1.5", "bad_round"),
        ("d1,ann,human,,,surplus", "too_many_cells"),
    ],
)
def test_a_bad_row_is_told_and_the_next_is_taken(row: str, code: str) -> None:
    done = take(f"dialogue,rater,choice,time,round\n{row}\nd2,zoe,human,,2\n")

    assert [one.result for one in done.rows] == ["refused", "accepted"]
    assert code in codes(done)[0]
    assert Verdict.objects.get().round_number == 2


def test_a_word_that_is_probably_meant_is_named() -> None:
    done = take("dialogue,rater,choice\nd1,ann,人工智能\n")
    note = done.rows[0].notes[0]
    assert (note.code, note.params["meant"]) == ("unknown_choice", "machine")


@pytest.mark.parametrize(
    ("word", "choice"),
    [
        ("真人", "human"),
        ("机器", "machine"),
        ("HUMAN", "human"),
        ("未计分", "unscored"),
        ("ｍachine", "machine"),
    ],
)
def test_choices_are_understood_in_both_languages(word: str, choice: str) -> None:
    take(f"dialogue,rater,choice\nd1,ann,{word}\n")
    assert Verdict.objects.get().choice == choice


def test_duplicates_name_the_line_that_counts() -> None:
    done = take("dialogue,rater,choice\nd1,ann,human\nd1,ann,human\nd1,ann,machine\n")

    assert codes(done) == [set(), {"duplicate"}, {"contradiction"}]
    assert [row.notes[0].params["line"] for row in done.rows[1:]] == [2, 2]
    assert Verdict.objects.get().choice == "human"


def test_a_stored_verdict_is_never_overwritten() -> None:
    take("dialogue,rater,choice\nd1,ann,human\n")
    done = take("dialogue,rater,choice\nd1,ann,machine\n")

    assert codes(done) == [{"other_verdict"}]
    assert Verdict.objects.get().choice == "human"


def test_a_code_names_a_dialogue_too() -> None:
    code = Dialogue.objects.get(external_id="d1").code
    done = take(f"dialogue,rater,choice\n{code},ann,human\nd1,ann,human\n")
    assert codes(done) == [set(), {"duplicate"}]


def test_answers_that_are_not_on_offer_are_told_and_left_out() -> None:
    done = take("dialogue,rater,choice,age,education\nd1,ann,human,7,本科\nd2,ann,human,,硕士\n")

    assert codes(done) == [{"unknown_answer"}, {"other_answer"}]
    assert done.counts == {"warned": 2}
    assert list(Answer.objects.values_list("question", "value")) == [("education", "bachelor")]


def test_dialogues_outside_the_study_need_leave() -> None:
    study = factories.StudyFactory(slug="running", status=Study.Status.OPEN)
    text = "dialogue,rater,choice\nd1,ann,human\n"

    assert codes(take(text, "running", create=False)) == [{"not_in_study"}]
    assert take(text, "running").counts == {"accepted": 1}
    assert not study.items.get().is_active


def test_check_items_and_withdrawn_dialogues_are_refused() -> None:
    study = factories.StudyFactory(slug="running")
    factories.StudyItemFactory(
        study=study, dialogue=Dialogue.objects.get(external_id="d1"), role="attention", expected="human"
    )
    Dialogue.objects.filter(external_id="d2").update(state=Dialogue.State.WITHDRAWN)

    done = take("dialogue,rater,choice\nd1,ann,human\nd2,ann,human\n", "running")
    assert codes(done) == [{"check_item"}, {"dialogue_withdrawn"}]


def test_a_recruiters_person_is_not_taken_for_one_of_the_file() -> None:
    study = factories.StudyFactory(slug="running")
    person = factories.ParticipantFactory(study=study, recruiter_key="ann")
    take("dialogue,rater,choice\nd1,ann,human\n", "running")
    assert not person.rater.verdicts.exists()


def test_rows_of_somebody_who_withdrew_are_refused() -> None:
    take("dialogue,rater,choice\nd1,ann,human\n")
    Participant.objects.update(withdrawn_at=factories.NOW)
    assert codes(take("dialogue,rater,choice\nd2,ann,human\n")) == [{"rater_withdrew"}]


def test_erasure_takes_imported_verdicts_along() -> None:
    take(FILE)
    erase(participant=Participant.objects.get(recruiter_key="import:ann"))
    assert set(Verdict.objects.values_list("rater__participant__recruiter_key", flat=True)) == {"import:bo"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "gb18030", "utf-16"])
def test_other_encodings_are_read(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("dialogue;rater;choice\nd1;甲乙;真人\nd2;甲乙;机器\n", encoding)
    told, problem = run(path, "--create")
    assert not problem
    assert "2 accepted" in told
    assert list(Verdict.objects.order_by("pk").values_list("choice", flat=True)) == ["human", "machine"]


def test_json_lines_are_read_and_faults_told_by_line() -> None:
    text = '{"dialogue": "d1", "rater": 7, "choice": "human"}\n[1]\n{"dialogue": "d1"}\n{"dialogue": "d2", '
    done = take(text, name="v.jsonl")
    assert [row.result for row in done.rows] == ["accepted", "refused", "refused", "refused"]
    assert codes(done)[1:] == [{"not_an_object"}, {"missing_keys"}, {"broken_line"}]


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text(FILE, encoding="utf-8")
    before = everything()

    told, problem = run(path, "--create", "--dry-run")
    assert (told.splitlines()[-1], problem) == (
        "Nothing was written. 4 accepted, 0 accepted with a warning, 0 unchanged, 0 refused.", "",
    )  # fmt: skip
    assert everything() == before


def test_without_leave_no_study_is_made(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text(FILE, encoding="utf-8")
    assert run(path) == ("", "There is no study “elsewhere”. --create makes it.")


def test_a_file_without_one_good_row_makes_no_study(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("dialogue,rater,choice\nd9,ann,human\n", encoding="utf-8")
    told, problem = run(path, "--create")
    assert "There is no dialogue “d9”" in told
    assert problem == "Every row was refused."
    assert not Study.objects.exists()


def test_a_wrong_header_names_what_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("clip,user,verdict\nd1,ann,human\n", encoding="utf-8")
    with translation.override("en"):
        _told, problem = run(path, "--create")
    assert "clip → dialogue, user → rater, verdict → choice" in problem
    assert run(tmp_path / "none.csv")[1].endswith("No such file or directory")


def test_times_without_offset_are_the_studys() -> None:
    factories.StudyFactory(slug="shanghai", time_zone="Asia/Shanghai")
    take("dialogue,rater,choice,time\nd1,ann,human,2025/3/1 8:05\n", "shanghai")
    assert Verdict.objects.get().given_at == datetime(2025, 3, 1, 0, 5, tzinfo=UTC)
    assert Participant.objects.get(source="import").joined_at == datetime(2025, 3, 1, 0, 5, tzinfo=UTC)

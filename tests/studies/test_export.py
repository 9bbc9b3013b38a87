"""The export of a study: what is in it, what must not be, and that it gives the same reports."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import tracemalloc
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, models
from hypothesis import given
from hypothesis import strategies as st

from dialogues.models import Choice, Kind, Speaker, Verdict
from studies import cells, copying, tidy
from studies.export_files import snapshot
from studies.exported import Exported
from studies.exports import export_study, shown_columns
from studies.models import AuditLine, ExportFile, Participant, Study
from studies.registry import datasets
from studies.report_formats import as_csv, as_json, as_markdown
from studies.reports import ANALYSIS_SETS, Options, run_report, run_report_from
from studies.services.erasing import erase
from tests import factories
from tests.speech.played import Played
from turingsite.errors import Invalid

TYPES = {"string", "integer", "number", "boolean", "datetime", "date", "object", "array"}


def table(path: Path, name: str) -> list[dict[str, str]]:
    with zipfile.ZipFile(path) as archive:
        text = archive.read(f"tables/{name}.csv").decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def read_json(path: Path, name: str) -> Any:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(name))


@pytest.fixture
def played(db: None) -> Played:
    played = Played()
    person = played.people[0]
    player = factories.SpeechPlayerFactory(participant=person)
    first_round = factories.RoundFactory(player=player)
    chosen, system = played.machine[0].pk, played.system.pk
    factories.TrialFactory(
        round=first_round,
        dialogue=played.machine[0],
        draw={"seed": 1, "counter": 0, "chosen": chosen, "systems": {str(system): 3, "0": 1}, "weight": 0.5},
        verdict=Verdict.objects.get(rater=person.rater, dialogue=played.machine[0]),
    )
    factories.ConsentFactory(participant=person)
    factories.AnswerFactory(rater=person.rater)
    factories.ExposureFactory(rater=played.people[1].rater, dialogue=played.machine[1])
    return played


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "export.zip"


# The data dictionary


def all_columns() -> Iterator[tuple[Any, Any]]:
    for dataset in datasets:
        for column in dataset.columns:
            yield dataset, column


def test_every_column_says_what_it_means() -> None:
    for dataset, column in all_columns():
        where = f"{dataset.key}.{column.name}"
        assert len(str(column.meaning)) > 3, f"{where} has no meaning"
        assert column.type in TYPES, f"{where} has no known type"
        assert column.tier in ("public", "controlled", "internal"), where
        assert str(column.meaning) != column.name, where
        assert column.name.isidentifier(), where
        assert column.name.islower(), where
        if column.name.endswith(("_ms", "duration", "heard")) and column.type in ("number", "integer"):
            assert column.unit, f"{where} has no unit"


def test_every_table_says_what_it_is_and_how_rows_are_told_apart() -> None:
    for dataset in datasets:
        names = [column.name for column in dataset.columns]
        assert len(str(dataset.title)) > 3
        assert len(names) == len(set(names)), f"{dataset.key} has a column twice"
        assert dataset.primary_key, dataset.key
        assert set(dataset.primary_key) <= set(names), dataset.key


def test_every_row_has_exactly_the_described_columns(played: Played) -> None:
    seen = set()
    for dataset in datasets:
        names = [column.name for column in dataset.columns]
        keys = set()
        for row in dataset.rows(played.study):
            assert list(row) == names, dataset.key
            key = tuple(str(row[name]) for name in dataset.primary_key)
            assert key not in keys, f"{dataset.key} has the key {key} twice"
            keys.add(key)
            seen.add(dataset.key)
            for column in dataset.columns:
                if column.levels and row[column.name] not in ("", None):
                    assert row[column.name] in column.levels, f"{dataset.key}.{column.name}"
    assert {"verdicts", "trials", "rounds", "players", "participants", "answers", "consents"} <= seen


# Rows that say something about a person but belong to no table of their own.
NOT_EXPORTED = {
    "studies.AuditLine": "holds no personal data; the trail stays with the operator",
    "studies.ExportFile": "files on disk, not data",
}


def test_every_model_that_reaches_a_person_is_in_a_table() -> None:
    covered = {name for dataset in datasets for name in dataset.models}
    for name in covered:
        apps.get_model(name)
    missing = {
        model._meta.label
        for model in apps.get_models()
        if model._meta.app_label in ("studies", "dialogues", "speech", "annotation")
        and reaches(model, Participant)
        and model._meta.label not in covered | set(NOT_EXPORTED)
    }
    assert not missing, f"no dataset has {', '.join(sorted(missing))}"


def reaches(
    model: type[models.Model], target: type[models.Model], seen: frozenset[Any] = frozenset()
) -> bool:
    if model is target:
        return True
    if model in seen:
        return False
    return any(
        reaches(field.related_model, target, seen | {model})
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey)
        and field.related_model._meta.app_label in ("studies", "dialogues", "speech", "annotation")
    )


# Cells


@pytest.mark.parametrize("start", [*"=+-@|%＝＋－＠", "\t=", "\r", "\n=", " =", "  +", "'", "''="])
def test_text_that_could_run_is_guarded_and_comes_back(start: str) -> None:
    text = f"{start}cmd('x')!A1"
    assert cells.guarded(text) == f"'{text}"
    assert cells.unguarded(cells.guarded(text)) == text


@pytest.mark.parametrize("text", ["-3.5", "+7", "-1e-3", "12", "a=b", "", "x-1", "你好", "3 - 4"])
def test_numbers_and_harmless_text_stay_as_they_are(text: str) -> None:
    assert cells.guarded(text) == text


def test_a_number_stays_a_number() -> None:
    assert cells.written(-3.5, "number") == "-3.5"
    assert cells.written(-3, "integer") == "-3"


@given(st.text())
def test_any_text_survives_its_cell(text: str) -> None:
    cell = cells.written(text, "string")
    assert cells.read(cell, "string") == text
    assert not cell or cell[0] not in "=@\t\r"


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**62), 2**62))
def test_numbers_survive_exactly(number: float, whole: int) -> None:
    assert cells.read(cells.written(number, "number"), "number") == number
    assert cells.read(cells.written(whole, "integer"), "integer") == whole


def test_times_carry_their_offset_and_none_is_empty() -> None:
    moment = datetime(2026, 3, 2, 12, 0, 1, 500_000, tzinfo=timezone(timedelta(hours=8)))
    assert cells.written(moment, "datetime") == "2026-03-02T12:00:01.500000+08:00"
    assert cells.read("2026-03-02T12:00:01.500000+08:00", "datetime") == moment
    with pytest.raises(ValueError, match="offset"):
        cells.written(datetime(2026, 3, 2), "datetime")  # noqa: DTZ001  (just what is refused)
    for kind in sorted(TYPES):
        assert cells.written(None, kind) == ""
    assert cells.read("", "number") is None
    assert cells.written(float("nan"), "number") == ""
    assert (cells.written(True, "boolean"), cells.read("false", "boolean")) == ("true", False)


# The zip


def test_the_zip_has_tables_dictionary_package_and_manifest(played: Played, out: Path) -> None:
    call_command("export", "worked", out=str(out), stdout=StringIO())
    with zipfile.ZipFile(out) as archive:
        names = set(archive.namelist())
        assert {"manifest.json", "datapackage.json", "dictionary.csv", "README.md"} <= names
        assert {f"tables/{dataset.key}.csv" for dataset in datasets} <= names
        manifest = json.loads(archive.read("manifest.json"))
        listed = {one["path"]: one for one in manifest["files"]}
        assert set(listed) == names - {"manifest.json"}
        for path, entry in listed.items():
            data = archive.read(path)
            assert entry["sha256"] == hashlib.sha256(data).hexdigest(), path
            assert entry["bytes"] == len(data), path
            if path.startswith("tables/"):
                rows = list(csv.reader(io.StringIO(data.decode("utf-8"))))
                assert entry["rows"] == len(rows) - 1, path
    assert listed["tables/verdicts.csv"]["rows"] == 70
    assert manifest["seeds"] == {"study": played.study.seed}
    assert manifest["tier"] == "controlled"
    assert manifest["versions"]["turingsite"]
    assert datetime.fromisoformat(manifest["made_at"]).tzinfo is not None


def test_the_dictionary_and_the_package_describe_every_column_that_is_there(
    played: Played, out: Path
) -> None:
    export_study(study=played.study, path=out)
    with zipfile.ZipFile(out) as archive:
        dictionary = list(csv.DictReader(io.StringIO(archive.read("dictionary.csv").decode())))
    described = {(row["table"], row["column"]): row for row in dictionary}
    package = read_json(out, "datapackage.json")
    resources = {resource["path"]: resource for resource in package["resources"]}
    for dataset in datasets:
        path = f"tables/{dataset.key}.csv"
        with zipfile.ZipFile(out) as archive:
            header = next(csv.reader(io.StringIO(archive.read(path).decode())))
        assert header == [column.name for column in shown_columns(dataset, "controlled")]
        fields = resources[path]["schema"]["fields"]
        assert [one["name"] for one in fields] == header
        assert all(one["description"] for one in fields)
        assert all(described[dataset.key, name]["meaning"] for name in header)
        assert resources[path]["hash"].startswith("sha256:")
    choice = described["verdicts", "choice"]
    assert choice["levels"] == "human | machine | unscored"
    assert described["dialogues", "duration"]["unit"] == "s"


def test_reports_from_the_export_equal_those_of_the_database(played: Played, out: Path) -> None:
    extra = played.dialogue(Kind.PSEUDO_HUMAN, 61.5, system=None, language="zh")
    played.verdict(played.people[2], extra, Choice.HUMAN, exclusion="known", evidence={"length": 44.1})
    played.verdict(played.people[3], extra, Choice.MACHINE, protocol_breaks=["too_fast"], round_number=3)
    played.system.name = "+Talker, “the” =best\nof all"
    played.system.save()
    export_study(study=played.study, path=out)
    for name in ("success-rate", "accuracy"):
        for chosen in (
            *(Options(one) for one in ANALYSIS_SETS),
            Options(language="zh"),
            Options(language="en"),
        ):
            here, there = run_report(name, played.study, chosen), run_report_from(name, out, chosen)
            assert here == there
            for render in (as_json, as_csv, as_markdown):
                assert render(here) == render(there)


def test_report_command_reads_an_export_without_the_study(played: Played, out: Path) -> None:
    export_study(study=played.study, path=out)

    def printed(**more: Any) -> str:
        text = StringIO()
        call_command("report", "success-rate", format="csv", stdout=text, **more)
        return text.getvalue()

    assert printed(source=str(out)) == printed(study="worked")
    with pytest.raises(CommandError, match="an export of the study “worked”"):
        printed(source=str(out), study="other")


def test_cells_of_the_tables_cannot_run(played: Played, out: Path) -> None:
    Study.objects.filter(pk=played.study.pk).update(title_en="=2+5", title_zh="＝危险")
    Participant.objects.filter(pk=played.people[0].pk).update(source="@SUM(1)")
    export_study(study=played.study, path=out)
    (study,) = table(out, "study")
    assert (study["title_en"], study["title_zh"]) == ("'=2+5", "'＝危险")
    sources = {row["participant"]: row["source"] for row in table(out, "participants")}
    assert sources[played.people[0].code] == "'@SUM(1)"
    with Exported(out) as export:
        (read,) = export.table("study", ["title_en"])
    assert read == {"title_en": "=2+5"}


def test_times_in_tables_have_an_offset_and_flags_are_words(played: Played, out: Path) -> None:
    export_study(study=played.study, path=out)
    for row in table(out, "verdicts"):
        assert datetime.fromisoformat(row["given_at"]).utcoffset() == timedelta(0)
        assert row["round_finished"] == "true"
        assert row["changed_at"] == ""
    (trial,) = table(out, "trials")
    # Keys of rows become the codes by which the tables are joined.
    assert json.loads(trial["draw"]) == {
        "seed": 1,
        "counter": 0,
        "chosen": played.machine[0].code,
        "systems": {"talker": 3, "": 1},
        "weight": 0.5,
    }
    assert trial["judged"] == "true"


def test_a_byte_order_mark_on_request(played: Played, out: Path) -> None:
    call_command("export", "worked", out=str(out), bom=True, stdout=StringIO())
    with zipfile.ZipFile(out) as archive:
        assert archive.read("tables/verdicts.csv").startswith(b"\xef\xbb\xbfrater,")
        assert archive.read("dictionary.csv").startswith(b"\xef\xbb\xbftable,")
        assert not archive.read("manifest.json").startswith(b"\xef\xbb\xbf")
    assert run_report_from("accuracy", out) == run_report("accuracy", played.study)


# What must not be in it


def whole_text(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


def test_codes_that_open_doors_names_and_recruiter_ids_stay_inside(played: Played, out: Path) -> None:
    person = played.people[0]
    Participant.objects.filter(pk=person.pk).update(
        nickname="Nachtigall", recruiter={"PROLIFIC_PID": "5f1e2d3c"}, recruiter_key="5f1e2d3c"
    )
    export_study(study=played.study, path=out)
    text = whole_text(out)
    assert person.code in text
    for secret in (person.resume_code, person.receipt_code, "Nachtigall", "5f1e2d3c", "PROLIFIC_PID"):
        assert secret not in text
    tokens = [exposure.token for exposure in played.study.exposures.all()]
    assert tokens
    assert not any(token in text for token in tokens)


def test_the_internal_tier_has_nicknames_and_recruiter_ids(played: Played, out: Path) -> None:
    Participant.objects.filter(pk=played.people[0].pk).update(
        nickname="=Nachtigall", recruiter={"PROLIFIC_PID": "5f1e2d3c"}
    )
    call_command("export", "worked", out=str(out), tier="internal", stdout=StringIO())
    row = next(one for one in table(out, "participants") if one["participant"] == played.people[0].code)
    assert row["nickname"] == "'=Nachtigall"
    assert json.loads(row["recruiter"]) == {"PROLIFIC_PID": "5f1e2d3c"}
    assert read_json(out, "manifest.json")["tier"] == "internal"


def test_erased_people_are_in_no_table_and_earlier_files_are_stale(played: Played, out: Path) -> None:
    gone = played.people[0]
    before = gone.code
    export_study(study=played.study, path=out)
    assert before in whole_text(out)
    erase(participant=gone)
    assert ExportFile.objects.get(path=str(out)).stale_since is not None
    later = out.with_name("later.zip")
    manifest = export_study(study=played.study, path=later)
    text = whole_text(later)
    gone.refresh_from_db()
    assert before not in text
    assert gone.code not in text
    assert manifest["left_out"] == {"participants": {"erased": 1}}
    assert len(table(later, "participants")) == 9
    assert len(table(later, "verdicts")) == 63
    assert ExportFile.objects.get(path=str(later)).stale_since is None


def test_free_text_only_with_consent_to_publish_it(played: Played, out: Path) -> None:
    questionnaire = factories.QuestionnaireFactory(
        study=played.study,
        key="after",
        questions=[{"key": "why", "kind": "text", "required": False, "text": {"en": "Why?", "zh": "?"}}],
    )
    words = {True: "gladly shared", False: "kept to myself"}
    for person, agrees in zip(played.people[1:3], (True, False), strict=True):
        factories.ConsentFactory(
            participant=person, publish_text=agrees, text=played.study.consent_texts.get()
        )
        factories.AnswerFactory(
            rater=person.rater, questionnaire=questionnaire, question="why", value=words[agrees]
        )
        Verdict.objects.filter(rater=person.rater).update(
            reason={"ticks": ["voice"], "text": f"it was {words[agrees]}"}
        )
    export_study(study=played.study, path=out)
    text = whole_text(out)
    assert "gladly shared" in text
    assert "it was gladly shared" in text
    assert "kept to myself" not in text
    reasons = [json.loads(row["reason"]) for row in table(out, "verdicts") if row["reason"] != "{}"]
    assert all(reason["ticks"] == ["voice"] for reason in reasons)


def test_answers_come_as_text_and_several_choices_as_a_list(played: Played, out: Path) -> None:
    factories.AnswerFactory(
        rater=played.people[1].rater,
        questionnaire=played.study.questionnaires.get(),
        value=["a", "b"],
    )
    export_study(study=played.study, path=out)
    assert {row["value"] for row in table(out, "answers")} == {"18-25", '["a", "b"]'}


def test_a_speaker_who_withdrew_loses_their_code(played: Played, out: Path) -> None:
    party = played.human[0].parties.get(label="B")
    Speaker.objects.filter(parties=party).update(withdrawn_at=factories.NOW)
    export_study(study=played.study, path=out)
    rows = {(row["dialogue"], row["label"]): row for row in table(out, "parties")}
    assert rows[played.human[0].code, "B"]["speaker"] == ""
    assert rows[played.human[0].code, "A"]["speaker"] != ""


def test_only_this_study(played: Played, out: Path) -> None:
    other = Played("other", "Stranger")
    export_study(study=played.study, path=out)
    text = whole_text(out)
    assert played.machine[0].code in text
    assert not any(person.code in text for person in other.people)
    assert not any(dialogue.code in text for dialogue in (*other.machine, *other.human))


def test_exclusions_are_counted_in_the_manifest(played: Played, out: Path) -> None:
    Verdict.objects.filter(rater=played.people[0].rater).update(exclusion="known")
    manifest = export_study(study=played.study, path=out)
    found = {key: reasons for key, reasons in manifest["excluded"].items() if reasons}
    assert found == {"verdicts": {"known": 7}}


# The command and the file


@pytest.mark.django_db
def test_an_unknown_study_is_refused_in_words(out: Path) -> None:
    with pytest.raises(CommandError, match="There is no study yet"):
        call_command("export", "nowhere", out=str(out))
    factories.StudyFactory(slug="here")
    with pytest.raises(CommandError, match=r"There is no study “nowhere”. There are: here."):
        call_command("export", "nowhere", out=str(out))
    assert not out.exists()


def test_a_place_that_cannot_be_written_is_refused_and_leaves_nothing(played: Played, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export", "worked", out=str(tmp_path / "no" / "such" / "folder.zip"))
    with pytest.raises(CommandError, match="is a folder"):
        call_command("export", "worked", out=str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert not ExportFile.objects.exists()


def test_the_command_says_how_far_it_is(played: Played, out: Path, settings: Any) -> None:
    Study.objects.update(status="closed")  # no word on an early look

    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    def said(place: StringIO) -> str:
        call_command("export", "worked", out=str(out), stdout=StringIO(), stderr=place)
        return place.getvalue()

    assert said(StringIO()) == ""
    assert re.fullmatch(r"(.* rows[\r\n])*(\d+) of \2 rows\n", said(Terminal()), re.DOTALL)
    settings.EXPORT_AT_ONCE = 10
    assert re.search(r"(\d+) of \1 rows\n$", said(StringIO()))


def test_a_stopped_command_leaves_nothing(played: Played, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_unused: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(copying, "_copied", interrupted)
    with pytest.raises(CommandError, match="No file was written"):
        call_command("export", "worked", out=str(out), stdout=StringIO())
    assert list(out.parent.iterdir()) == []
    assert not ExportFile.objects.exists()


def test_a_disk_that_fills_up_is_refused_in_words(played: Played, out: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    try:
        with pytest.raises(CommandError, match="cannot be written"):
            call_command("export", "worked", out=str(out), stdout=StringIO())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(out.parent.iterdir()) == []


def test_the_command_limits_to_a_language(played: Played, out: Path) -> None:
    call_command("export", "worked", out=str(out), language="zh", stdout=StringIO())
    assert table(out, "verdicts") == []
    assert read_json(out, "manifest.json")["limited_to"] == {"language": "zh"}


def test_exporting_again_replaces_the_file_and_is_recorded(played: Played, out: Path) -> None:
    first = export_study(study=played.study, path=out, now=datetime(2026, 3, 3, tzinfo=UTC))
    second = export_study(study=played.study, path=out, now=datetime(2026, 3, 4, tzinfo=UTC))
    hashes = [{one["path"]: one["sha256"] for one in made["files"]} for made in (first, second)]
    tables = [{path: digest for path, digest in one.items() if path.startswith("tables/")} for one in hashes]
    assert tables[0] == tables[1]
    row = ExportFile.objects.get()
    assert row.sha256 == hashlib.sha256(out.read_bytes()).hexdigest()
    assert AuditLine.objects.filter(action="study.exported", study=played.study).count() == 2
    assert [path.name for path in out.parent.iterdir()] == ["export.zip"]


def test_a_changed_or_foreign_file_is_not_read(played: Played, out: Path, tmp_path: Path) -> None:
    export_study(study=played.study, path=out)
    forged = tmp_path / "forged.zip"
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b",machine,", b",human,") if "verdicts" in name else data)
    with pytest.raises(Invalid, match="SHA-256 differs"):
        run_report_from("accuracy", forged)
    foreign = tmp_path / "foreign.zip"
    foreign.write_bytes(b"PK not a zip")
    with pytest.raises(Invalid, match="not an export"):
        run_report_from("accuracy", foreign)


def test_memory_stays_flat(played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "CHUNK", 100)
    monkeypatch.setattr(copying, "BLOCK", 4_096)

    def peak(name: str) -> int:
        tracemalloc.start()
        try:
            export_study(study=played.study, path=tmp_path / name)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def grow(count: int) -> None:
        people = Participant.objects.bulk_create(
            Participant(study=played.study, joined_at=factories.NOW) for _unused in range(count // 10)
        )
        raters = [factories.RaterFactory._meta.model(participant=person) for person in people]
        raters = factories.RaterFactory._meta.model.objects.bulk_create(raters)
        Verdict.objects.bulk_create(
            Verdict(
                study=played.study,
                rater=rater,
                dialogue=dialogue,
                activity="speech",
                choice="human",
                evidence={"heard": 1.0, "length": 30.0, "served_at": "2026-03-02T12:00:00+00:00"},
                given_at=factories.NOW,
            )
            for rater in raters
            for dialogue in (*played.machine, *played.human)
        )

    grow(500)
    small = peak("small.zip")
    grow(4_000)
    large = peak("large.zip")
    assert len(table(tmp_path / "large.zip", "verdicts")) == 4_570
    assert large < 1.5 * small


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_reading_sees_one_moment_and_holds_nobody_up() -> None:
    study = factories.StudyFactory()
    factories.ParticipantFactory(study=study)

    def join() -> None:
        try:
            factories.ParticipantFactory(study=study)
        finally:
            connection.close()

    with snapshot():
        before = Participant.objects.count()
        # Another connection: blocked, it would time out and raise.
        with ThreadPoolExecutor(1) as others:
            others.submit(join).result(timeout=15)
        assert Participant.objects.count() == before == 1
    assert Participant.objects.count() == 2


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_export_and_report_outside_a_transaction(out: Path) -> None:
    played = Played()
    export_study(study=played.study, path=out)
    assert run_report_from("success-rate", out) == run_report("success-rate", played.study)
    assert not connection.in_atomic_block
    factories.ParticipantFactory(study=played.study)  # and the connection can write again

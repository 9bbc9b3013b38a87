"""Formats and tiers of an export, and what is said of one that was cut off."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from dialogues.models import Dialogue, Speaker, Verdict
from dialogues.withdrawing import follow_speaker
from studies.coarsening import FEWEST, WITHHELD, coarsen
from studies.exported import Exported
from studies.exports import TIERS, export_study
from studies.models import Participant
from studies.registry import datasets, reports
from studies.reports import ANALYSIS_SETS, Options, run_report, run_report_from
from studies.sheets import FORMATS
from tests import factories
from tests.speech.played import Played
from turingsite.errors import Invalid

QUESTIONS: list[dict[str, Any]] = [
    {"key": key, "kind": "single", "required": True, "text": {"en": key, "zh": key}, "options": []}
    for key in ("age", "gender", "familiarity")
]


@pytest.fixture
def played(db: None) -> Played:
    return Played()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "export.zip"


def table(path: Path, name: str) -> list[dict[str, str]]:
    with zipfile.ZipFile(path) as archive:
        return list(csv.DictReader(io.StringIO(archive.read(f"tables/{name}.csv").decode("utf-8-sig"))))


def profile_of(played: Played, answers: dict[str, list[str]]) -> Any:
    """A profile that the first people answered so, one list a question."""
    questionnaire = factories.QuestionnaireFactory(study=played.study, key="profile", questions=QUESTIONS)
    for question, values in answers.items():
        for person, value in zip(played.people, values, strict=False):
            factories.AnswerFactory(
                rater=person.rater, questionnaire=questionnaire, question=question, value=value
            )
    return questionnaire


# Formats


def test_every_format_gives_the_same_rows(played: Played, out: Path) -> None:
    played.system.name = "+Talker, “the” =best\nof all"
    played.system.aliases = ["甲", "a, b"]
    played.system.save()
    Participant.objects.filter(pk=played.people[0].pk).update(source="'@SUM(1)", completed_at=factories.NOW)
    person = factories.RoundFactory(player=factories.SpeechPlayerFactory(participant=played.people[0]))
    factories.TrialFactory(round=person, dialogue=played.machine[0], ranges=[[0, 1.5], [2, 3]])
    read = {}
    for name in FORMATS:
        export_study(study=played.study, path=out, formats=[name])
        with Exported(out) as export:
            read[name] = {dataset.key: list(export.table(dataset.key)) for dataset in datasets}
            assert export.manifest["formats"] == [name]
    assert read["csv"] == read["jsonl"] == read["parquet"]
    for dataset in datasets:
        public = [one.name for one in dataset.columns if one.tier != "internal"]
        rows = [{name: row[name] for name in public} for row in dataset.rows(played.study)]
        assert read["parquet"][dataset.key] == rows, dataset.key


def test_all_formats_in_one_export_by_command(played: Played, out: Path) -> None:
    call_command("export", "worked", out=str(out), formats="parquet, jsonl,csv", stdout=StringIO())
    with zipfile.ZipFile(out) as archive:
        names = archive.namelist()
        for dataset in datasets:
            assert {f"tables/{dataset.key}.{one}" for one in FORMATS} <= set(names)
        manifest = json.loads(archive.read("manifest.json"))
        package = json.loads(archive.read("datapackage.json"))
        lines = archive.read("tables/verdicts.jsonl").decode().splitlines()
    assert names[-1] == "manifest.json"
    rows = {one["path"]: one["rows"] for one in manifest["files"] if "rows" in one}
    assert {rows[f"tables/verdicts.{one}"] for one in FORMATS} == {70} == {len(lines)}
    assert {one["path"] for one in package["resources"]} == set(rows)
    assert len({one["name"] for one in package["resources"]}) == len(rows)


def test_text_is_unguarded_and_numbers_are_numbers_in_json_lines(played: Played, out: Path) -> None:
    Participant.objects.filter(pk=played.people[0].pk).update(source="=2+5")
    export_study(study=played.study, path=out, formats=["jsonl"])
    with zipfile.ZipFile(out) as archive:
        people = [json.loads(line) for line in archive.read("tables/participants.jsonl").splitlines()]
        (settings,) = [json.loads(line) for line in archive.read("tables/speech_settings.jsonl").splitlines()]
    assert "=2+5" in {row["source"] for row in people}
    assert settings["margin"] == 0.1
    assert settings["leaderboard"] is True
    assert people[0]["completed_at"] is None


def test_parquet_is_written_in_row_groups(played: Played, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    monkeypatch.setattr("studies.sheets.GROUP", 30)
    export_study(study=played.study, path=out, formats=["parquet"])
    with zipfile.ZipFile(out) as archive:
        file = parquet.ParquetFile(io.BytesIO(archive.read("tables/verdicts.parquet")))
    assert [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)] == [30, 30, 10]
    assert str(file.schema_arrow.field("given_at").type) == "timestamp[us, tz=UTC]"
    assert file.schema_arrow.field("heard").metadata[b"unit"] == b"share"


def test_reports_read_any_format(played: Played, out: Path) -> None:
    for name in ("jsonl", "parquet"):
        export_study(study=played.study, path=out, formats=[name])
        for chosen in (Options(one) for one in ANALYSIS_SETS):
            assert run_report_from("success-rate", out, chosen) == run_report(
                "success-rate", played.study, chosen
            )


def test_an_unknown_format_is_refused_in_words(played: Played, out: Path) -> None:
    with pytest.raises(CommandError, match=r"no format “xlsx”. There are: csv, jsonl, parquet"):
        call_command("export", "worked", out=str(out), formats="csv,xlsx")
    with pytest.raises(CommandError, match="at least one format"):
        call_command("export", "worked", out=str(out), formats=" ,")
    assert not out.exists()


# The public tier


def test_the_public_tier_has_days_in_the_place_of_times(played: Played, out: Path) -> None:
    played.study.time_zone = "Asia/Shanghai"
    played.study.save()
    late = factories.NOW.replace(hour=20)
    Verdict.objects.update(given_at=late)
    call_command("export", "worked", out=str(out), tier="public", stdout=StringIO())
    day = late.astimezone(ZoneInfo("Asia/Shanghai")).date().isoformat()
    assert {row["given_at"] for row in table(out, "verdicts")} == {day} != {late.date().isoformat()}
    with zipfile.ZipFile(out) as archive:
        dictionary = list(csv.DictReader(io.StringIO(archive.read("dictionary.csv").decode())))
        text = "".join(archive.read(name).decode() for name in archive.namelist() if name.endswith("csv"))
    assert not [row for row in dictionary if row["type"] == "datetime"]
    assert "12:00" not in text
    with Exported(out) as export:
        assert type(next(export.table("verdicts"))["given_at"]) is date


def test_the_public_tier_has_no_nicknames_recruiter_ids_or_words_without_consent(
    played: Played, out: Path
) -> None:
    person = played.people[0]
    Participant.objects.filter(pk=person.pk).update(nickname="Nachtigall", recruiter={"PROLIFIC_PID": "5f1e"})
    Verdict.objects.filter(rater=person.rater).update(reason={"ticks": ["voice"], "text": "kept to myself"})
    export_study(study=played.study, path=out, tier="public", formats=["csv", "jsonl"])
    with zipfile.ZipFile(out) as archive:
        text = "".join(archive.read(name).decode() for name in archive.namelist())
    assert person.code in text
    for secret in ("Nachtigall", "5f1e", "kept to myself"):
        assert secret not in text


def test_profiles_are_coarsened_and_the_manifest_says_so(played: Played, out: Path) -> None:
    Participant.objects.update(source="", device_class="phone")
    profile_of(
        played,
        {
            "age": ["18-25"] * 5 + ["26-35"] * 5,
            "gender": ["female", "male", "female", "male", "other"] + ["female"] * 5,
            "familiarity": ["often"] * 10,
        },
    )
    manifest = export_study(study=played.study, path=out, tier="public")
    shown: dict[str, dict[str, str]] = {}
    for row in table(out, "answers"):
        shown.setdefault(row["participant"], {})[row["question"]] = row["value"]
    assert len(shown) == 10
    combinations = Counter(tuple(sorted(one.items())) for one in shown.values())
    assert min(combinations.values()) >= FEWEST
    # Only the gender of the five young is withheld: one question is enough.
    assert [shown[person.code]["gender"] for person in played.people] == [WITHHELD] * 5 + ["female"] * 5
    told = manifest["coarsened"]["profile"]
    assert told["withheld"] == {"gender": 5}
    assert told["profiles_left_out"] == 0
    assert told["people"] == 10
    assert "greedy" in told["rule"]
    # And nothing of that in the tier for people who signed.
    controlled = export_study(study=played.study, path=out)
    assert "coarsened" not in controlled
    assert WITHHELD not in {row["value"] for row in table(out, "answers")}


def test_a_profile_version_that_few_answered_is_left_out_whole(played: Played, out: Path) -> None:
    Participant.objects.update(source="", device_class="")
    first = profile_of(played, {"age": ["18-25"] * 7})
    first.is_current = False
    first.save()
    second = factories.QuestionnaireFactory(study=played.study, key="profile", version=2, questions=QUESTIONS)
    for person in played.people[7:]:
        factories.AnswerFactory(rater=person.rater, questionnaire=second, question="age", value="18-25")
    manifest = export_study(study=played.study, path=out, tier="public")
    assert {row["version"] for row in table(out, "answers")} == {"1"}
    assert manifest["coarsened"]["profile"]["profiles_left_out"] == 3
    assert len(table(out, "participants")) == 10


def test_a_rare_link_tag_is_withheld_too(played: Played, out: Path) -> None:
    # Four of the ten came through the club.
    export_study(study=played.study, path=out, tier="public")
    sources = Counter(row["source"] for row in table(out, "participants"))
    assert sources == {"": 6, WITHHELD: 4} or sources == {WITHHELD: 10}
    assert "club" not in sources


def test_figures_of_the_public_tier_equal_those_of_the_database(played: Played, out: Path) -> None:
    export_study(study=played.study, path=out, tier="public")
    for name in ("success-rate", "accuracy"):
        here, there = run_report(name, played.study), run_report_from(name, out)
        assert here.basis == there.basis
        tables = {one.key: one for one in there.tables}
        for one in here.tables:
            if one.key != "breakdown":  # by link tag, and rare ones are withheld
                assert one == tables[one.key], one.key


def test_every_report_can_be_made_from_every_tier(played: Played, out: Path) -> None:
    for tier in ("public", "controlled", "internal"):
        export_study(study=played.study, path=out, tier=tier, formats=["parquet"])
        for report in reports:
            there = run_report_from(report.key, out)
            assert there.basis == run_report(report.key, played.study).basis, (tier, report.key)
            if tier != "public":
                assert there == run_report(report.key, played.study), (tier, report.key)


profiles = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from("123456")), max_size=60
)


@given(profiles)
def test_every_combination_has_enough_people(found: list[tuple[str, ...]]) -> None:
    people = {f"p{at}": profile for at, profile in enumerate(found)}
    shown = coarsen(people)
    assert set(shown) == set(people)
    nothing = (WITHHELD,) * 3
    sizes = Counter(shown.values())
    if len(people) < FEWEST:
        assert set(shown.values()) <= {nothing}
    else:
        assert min(sizes.values()) >= FEWEST
    for who, profile in people.items():
        assert all(cell in (WITHHELD, value) for cell, value in zip(shown[who], profile, strict=True))
    before = Counter(people.values())
    untouched = [who for who in people if before[people[who]] >= FEWEST and shown[who] != nothing]
    assert all(shown[who] == people[who] for who in untouched)


def test_coarsening_withholds_the_question_that_helps_most() -> None:
    people = {f"a{i}": ("young", "woman", str(i)) for i in range(5)}
    people |= {f"b{i}": ("old", "man", "9") for i in range(6)}
    shown = coarsen(people)
    assert {shown[f"a{i}"] for i in range(5)} == {("young", "woman", WITHHELD)}
    assert {shown[f"b{i}"] for i in range(6)} == {("old", "man", "9")}


def test_coarsening_joins_the_smallest_combination_where_a_few_stand_alone() -> None:
    people = {f"a{i}": ("x", "x") for i in range(7)} | {f"b{i}": ("y", "y") for i in range(6)}
    people |= {"c0": ("z", "w"), "c1": ("v", "u")}
    shown = coarsen(people)
    assert Counter(shown.values()) == {("x", "x"): 7, (WITHHELD, WITHHELD): 8}


# Cut off, incomplete, swollen


def test_an_export_cut_off_says_what_is_missing(played: Played, out: Path, tmp_path: Path) -> None:
    export_study(study=played.study, path=out)
    data = out.read_bytes()
    cut = tmp_path / "cut.zip"
    with zipfile.ZipFile(out) as archive:
        at = archive.getinfo("tables/verdicts.csv").header_offset
    cut.write_bytes(data[: at + 200])
    with pytest.raises(Invalid) as refusal:
        run_report_from("accuracy", cut)
    words = str(refusal.value)
    assert "was cut off in tables/verdicts.csv" in words
    assert "manifest.json" in words
    assert "tables/trials.csv" not in words.split("missing are")[1]
    for length in (len(data) - 30, len(data) // 2, at + 10, 100):
        cut.write_bytes(data[:length])
        with pytest.raises(Invalid, match=r"cut off|not an export"):
            Exported(cut)


def test_an_export_without_manifest_or_with_a_file_missing_is_told(
    played: Played, out: Path, tmp_path: Path
) -> None:
    export_study(study=played.study, path=out)

    def without(name: str) -> Path:
        path = tmp_path / "less.zip"
        with zipfile.ZipFile(out) as old, zipfile.ZipFile(path, "w") as new:
            for one in old.namelist():
                if one != name:
                    new.writestr(one, old.read(one))
        return path

    with pytest.raises(Invalid, match=r"no manifest.json. It is written last"):
        Exported(without("manifest.json"))
    with pytest.raises(Invalid, match=r"lacks files that its manifest lists: tables/verdicts.csv"):
        Exported(without("tables/verdicts.csv"))


@pytest.mark.parametrize(
    "manifest",
    [
        "[]", "{}", "null", "not json", '{"format": 1, "files": [1]}', '{"format": 1, "files": {}}',
        '{"format": 1, "study": "x", "tier": "secret", "files": []}',
        '{"format": 1, "tier": "public", "files": []}',
    ],
)  # fmt: skip
def test_a_manifest_that_is_none_is_refused_in_words(tmp_path: Path, manifest: str) -> None:
    odd = tmp_path / "odd.zip"
    with zipfile.ZipFile(odd, "w") as archive:
        archive.writestr("manifest.json", manifest)
    with pytest.raises(Invalid, match="not an export of a study"):
        Exported(odd)


def test_damage_anywhere_is_refused_in_words(played: Played, out: Path, tmp_path: Path) -> None:
    export_study(study=played.study, path=out)
    data = out.read_bytes()
    with zipfile.ZipFile(out) as archive:
        table_at = archive.getinfo("tables/verdicts.csv").header_offset
        manifest_at = archive.getinfo("manifest.json").header_offset
    damaged = tmp_path / "damaged.zip"
    for at in (*range(table_at + 70, table_at + 130, 7), manifest_at + 90):
        damaged.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        with pytest.raises(Invalid, match=r"not as it was written|not an export"):
            run_report_from("accuracy", damaged)


def test_a_table_that_unfolds_into_more_than_declared_is_not_read(
    played: Played, out: Path, tmp_path: Path
) -> None:
    export_study(study=played.study, path=out)
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        for one in old.namelist():
            new.writestr(one, b"0" * (8 << 20) if one == "tables/verdicts.csv" else old.read(one))
    with pytest.raises(Invalid, match="not as it was written"):
        run_report_from("accuracy", bomb)


# Withdrawn recordings


def described(played: Played) -> tuple[Dialogue, Dialogue]:
    """A dialogue whose speaker then withdrew, and one that stays; both described in full."""
    gone, stays = played.human[0], played.machine[0]
    for name, dialogue in (("gone", gone), ("stays", stays)):
        dialogue.turn_files.create(index=0, recording=factories.RecordingFactory(sha256=f"file-{name}"))
        Dialogue.objects.filter(pk=dialogue.pk).update(
            external_id=f"id-{name}", source_corpus=f"corpus-{name}", opening=f"opening-{name}",
            content_hash=f"hash-{name}", quality={"result": {"of": f"quality-{name}"}},
            recording=factories.RecordingFactory(sha256=f"sound-{name}"),
        )  # fmt: skip
    speaker = Speaker.objects.get(parties__dialogue=gone, parties__label="B")
    Speaker.objects.filter(pk=speaker.pk).update(withdrawn_at=factories.NOW)
    speaker.refresh_from_db()
    follow_speaker(speaker=speaker)
    return gone, stays


@pytest.mark.parametrize("tier", TIERS)
def test_withdrawn_recordings_are_described_in_no_table(played: Played, out: Path, tier: str) -> None:
    gone, stays = described(played)
    manifest = export_study(study=played.study, path=out, tier=tier, formats=FORMATS)
    told = ("id", "corpus", "opening", "hash", "quality", "file", "sound")
    with zipfile.ZipFile(out) as archive:
        for form in ("csv", "jsonl"):  # as the database writes it, as Python does
            named = [one for one in archive.namelist() if one.endswith(form)]
            text = "\n".join(archive.read(one).decode() for one in named)
            assert not [one for one in told if f"{one}-gone" in text], form
            assert [one for one in told if f"{one}-stays" in text] == list(told), form
    with Exported(out) as export:
        read = {key: list(export.table(key)) for key in ("dialogues", "turns", "turn_files", "verdicts")}
    rows = {row["dialogue"]: row for row in read["dialogues"]}
    assert (rows[gone.code]["truth"], rows[gone.code]["quality"]) == ("human", {})
    for key in ("turns", "turn_files"):
        found = {row["dialogue"] for row in read[key]}
        assert (gone.code in found, stays.code in found) == (False, True), key
    counted = {one["path"]: one["rows"] for one in manifest["files"] if "rows" in one}
    for key, lines in read.items():
        assert {counted[f"tables/{key}.{one}"] for one in FORMATS} == {len(lines)}
    of_it = sum(row["dialogue"] == gone.code for row in read["verdicts"])
    assert manifest["excluded"]["verdicts"] == {"recording": of_it}
    assert of_it > 0


@pytest.mark.parametrize("report", ["success-rate", "accuracy", "leaks", "recordings"])
def test_reports_from_an_export_with_withdrawn_recordings_equal_the_page(
    played: Played, out: Path, report: str
) -> None:
    described(played)
    export_study(study=played.study, path=out)
    assert run_report_from(report, out) == run_report(report, played.study)

"""Importing: the awkward inputs and their whole kind, twice, halfway, at once, and stopped."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import soundfile
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from dialogues import tasks
from dialogues.importing import files, services
from dialogues.importing.manifest import read_manifest
from dialogues.importing.notes import worded
from dialogues.models import (
    Dialogue,
    Flag,
    ImportBatch,
    ImportRow,
    Nature,
    ProcessingJob,
    Recording,
    Speaker,
    StudyItem,
    System,
    Topic,
)
from tests import factories
from turingsite.audio.sources import ffmpeg_program

CASES = Path(__file__).parents[3] / "shared" / "cases"
needs_cases = pytest.mark.skipif(
    not CASES.is_dir(), reason="the awkward inputs (../shared/cases) are not here"
)
BASE = {"id": "d1", "kind": "human_human", "language": "en", "audio": "a.wav"}
MACHINE = {**BASE, "kind": "human_machine", "system": "GPT-4o"}


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def audio(tmp_path):
    """A folder with three clips of a second each (a.wav, b.wav two-channel, c.flac)."""
    folder = tmp_path / "audio"
    folder.mkdir()
    write(folder / "a.wav")
    write(folder / "b.wav", seed=2, channels=2)
    write(folder / "c.flac", seed=3)
    return folder


def write(path: Path, *, seconds: float = 1.0, seed: int = 1, channels: int = 1, rate: int = 16000) -> Path:
    noise = np.random.default_rng(seed).normal(0, 0.1, (int(seconds * rate), channels))
    soundfile.write(path, noise.squeeze(), rate)
    return path


def as_manifest(rows: list[dict]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def import_rows(rows, folder, **options):
    batch = services.create_batch(
        name="m.jsonl", manifest=read_manifest(as_manifest(rows), "m.jsonl"), **options
    )
    services.run_batch(batch_id=batch.pk, folders=[folder])
    return list(batch.rows.order_by("line"))


def dialogue(name):
    return Dialogue.objects.select_related("topic", "recording").get(external_id=name)


def codes(row):
    assert all(worded(message) for message in row.messages)
    return {message["code"] for message in row.messages}


def run_command(path, audio, *options):
    out = io.StringIO()
    try:
        call_command(
            "import_dialogues", str(path), "--audio", str(audio), "--no-processing", *options, stdout=out
        )
    except CommandError as error:
        return out.getvalue(), error
    return out.getvalue(), None


def results() -> dict[int, str]:
    return dict(ImportBatch.objects.latest("pk").rows.values_list("line", "state"))


def messages(line: int) -> set[str]:
    return codes(ImportBatch.objects.latest("pk").rows.get(line=line))


# the awkward inputs


@needs_cases
@pytest.mark.django_db
def test_good_rows_of_a_mixed_manifest_are_taken_and_every_other_is_told():
    out, error = run_command(CASES / "manifests/mixed_quality.csv", CASES / "audio")

    assert error is None
    assert results() == {2: "accepted", 3: "accepted", **dict.fromkeys(range(4, 10), "refused")}
    assert messages(4) == {"duplicate"}
    assert messages(5) == {"missing_file"}
    assert {
        "unknown_kind",
        "unknown_system",
        "unknown_language",
        "unknown_strategy",
        "not_audio",
    } <= messages(6)
    assert messages(7) == {"no_id"}
    assert messages(8) == {"id_path", "path_outside"}
    assert messages(9) == {"id_formula", "formula"}
    assert "2 accepted" in out
    assert "6 refused" in out
    assert "/etc/passwd" not in out.replace("../../etc/passwd", "")

    first = dialogue("d1")
    assert [(t.party.label, t.start, t.end) for t in first.turns.select_related("party")] == [
        ("A", 0.0, 3.655), ("B", 5.455, 9.92), ("A", 9.97, 12.633), ("B", 15.033, 17.538),
    ]  # fmt: skip
    assert [p.system.name for p in first.parties.filter(label="B")] == ["GPT-4o"]
    assert first.parties.get(label="A").nature == Nature.HUMAN
    second = dialogue("d2")
    assert second.topic.code == "daily_life"
    assert second.recording.channels == 2
    assert not second.turns.exists()
    assert set(ProcessingJob.objects.values_list("state", flat=True)) == {"queued"}


@needs_cases
@pytest.mark.django_db
def test_the_same_talk_saved_by_other_spreadsheets_is_unchanged():
    run_command(CASES / "manifests/mixed_quality.csv", CASES / "audio")
    for name in ("semicolons_bom.csv", "gb18030.csv"):
        _, error = run_command(CASES / "manifests" / name, CASES / "audio")
        assert error is None
        assert results() == {2: "unchanged", 3: "unchanged"}
    assert Dialogue.objects.count() == 2
    assert Recording.objects.count() == 2


@needs_cases
@pytest.mark.django_db
@pytest.mark.parametrize("name", ["semicolons_bom.csv", "gb18030.csv"])
def test_spreadsheets_are_read_as_they_save(name):
    _, error = run_command(CASES / "manifests" / name, CASES / "audio")
    assert error is None
    assert results() == {2: "accepted", 3: "accepted"}
    assert dialogue("d2").topic.label_zh == "生活"


@needs_cases
@pytest.mark.django_db
def test_a_wrong_header_writes_nothing():
    _, error = run_command(CASES / "manifests/wrong_header.csv", CASES / "audio")
    assert "dialogue → id, type → kind, lang → language" in str(error)
    assert not ImportBatch.objects.exists()


@needs_cases
@pytest.mark.django_db
def test_a_broken_line_stops_no_other():
    _, error = run_command(CASES / "manifests/broken_line.jsonl", CASES / "audio")
    assert error is None
    assert results() == {1: "warned", 2: "refused", 3: "warned"}
    assert messages(2) == {"broken_line"}
    assert "same_sound" in messages(3)
    assert Recording.objects.count() == 1


EXPECTED = {
    "mixed_16k_s16.wav": ("accepted", set()),
    "two_channel_A_left_B_right.flac": ("accepted", set()),
    "float32_over_full_scale.wav": ("accepted", set()),
    "pcm24_48k.wav": ("accepted", set()),
    "mixed.ogg": ("accepted", set()),
    "mixed.m4a": ("accepted", set()),
    "telephone.webm": ("accepted", set()),
    "vbr_tagged.mp3": ("accepted", set()),
    "streaming_header.wav": ("warned", {"streamed_header"}),
    "truncated.wav": ("warned", {"truncated"}),
    "clipped.flac": ("accepted", set()),
    "silence_25s.flac": ("accepted", set()),
    "not_audio.wav": ("refused", {"not_audio"}),
    "empty.wav": ("refused", {"empty"}),
    "header_only.wav": ("refused", {"header_only"}),
}


@needs_cases
@pytest.mark.django_db
def test_every_awkward_sound_is_accepted_or_refused_in_words():
    rows = [
        {**BASE, "id": f"d{n}", "audio": name, "turns_a": "0-0.4", "turns_b": "0.5-0.8"}
        for n, name in enumerate(EXPECTED)
    ]
    done = import_rows(rows, CASES / "audio")
    for row, (name, (state, expected)) in zip(done, EXPECTED.items(), strict=True):
        if name in ("mixed.m4a", "telephone.webm") and ffmpeg_program() is None:
            state, expected = "refused", {"no_decoder"}
        assert (row.state, name) == (state, name), row.messages
        assert expected <= codes(row)
    streamed = dialogue(f"d{list(EXPECTED).index('streaming_header.wav')}")
    assert streamed.recording.duration == pytest.approx(17.54, abs=0.02)


# cells


@pytest.mark.django_db
@pytest.mark.parametrize(("changed", "code"), [
    ({"id": ""}, "no_id"),
    ({"id": "x" * 121}, "id_too_long"),
    ({"id": "=1+1"}, "id_formula"),
    ({"id": "@x"}, "id_formula"),
    ({"id": "a/b"}, "id_path"),
    ({"id": "..\\b"}, "id_path"),
    ({"id": "a b"}, "id_characters"),
    ({"id": "a\u0000b"}, "control_characters"),
    ({"topic": "a\ud800b"}, "control_characters"),
    ({"id": "a\u202eb"}, "id_characters"),
    ({"kind": "HM"}, "unknown_kind"),
    ({"kind": ""}, "no_kind"),
    ({"language": "fr"}, "unknown_language"),
    ({"language": ""}, "no_language"),
    ({"kind": "human_machine"}, "no_system"),
    ({"kind": "pseudo_human"}, "no_system"),
    ({"system": "GPT-4o"}, "system_not_expected"),
    ({**MACHINE, "system": "Brand New"}, "unknown_system"),
    ({**MACHINE, "strategy": "roleplay"}, "unknown_strategy"),
    ({"topic": "=cmd|' /C calc'!A0"}, "formula"),
    ({"licence": "+1"}, "formula"),
    ({"topic": "x" * 61}, "too_long"),
    ({"source_corpus": "a\x07b"}, "control_characters"),
    ({"origin": "found"}, "unknown_origin"),
    ({"channels": "left"}, "unknown_channels"),
    ({"channels": "ab"}, "channels"),
    ({"may_play": "perhaps"}, "yes_or_no"),
    ({"speaker_a": "Ann Example"}, "speaker_code"),
    ({"speaker_consent": "everything"}, "consent_words"),
    ({"audio": ""}, "no_audio"),
    ({"audio": "/etc/passwd"}, "path_outside"),
    ({"audio": "../audio/a.wav"}, "path_outside"),
    ({"audio": "..\\a.wav"}, "path_outside"),
    ({"audio": "C:\\a.wav"}, "path_outside"),
    ({"audio": "~/a.wav"}, "path_outside"),
    ({"audio": "link.wav"}, "path_outside"),
    ({"audio": "a\u0000.wav"}, "control_characters"),
    ({"audio": "x" * 900}, "bad_path"),
    ({"audio": "circle.wav"}, "bad_path"),
    ({"audio": "folder"}, "not_a_file"),
    ({"audio": "aa.wav"}, "missing_file"),
    ({"audio": "a.wav|../b.wav"}, "path_outside"),
    ({"turns": "missing.rttm"}, "missing_file"),
    ({"turns": "../x.rttm"}, "path_outside"),
    ({"turns": "a.wav"}, "not_text"),
    ({"turns": "[{]"}, "bad_turn_line"),
    ({"turns": [{"speaker": "A", "start": 0, "end": 90}]}, "turn_beyond_end"),
    ({"turns": [{"speaker": "A", "start": 0, "end": 1}], "turns_a": "0-1"}, "turns_twice"),
    ({"audio": "a.wav|b.wav", "turns_a": "0-1"}, "times_of_many"),
])  # fmt: skip
def test_bad_rows_are_refused_in_words_and_the_next_is_taken(changed, code, audio):
    (audio / "link.wav").symlink_to("/etc/hostname")
    (audio / "circle.wav").symlink_to(audio / "circle.wav")
    (audio / "folder").mkdir()

    bad, good = import_rows([{**BASE, **changed}, {**BASE, "id": "next", "audio": "c.flac"}], audio)

    assert bad.state == "refused", bad.messages
    assert code in codes(bad)
    assert good.state == "warned"  # its turns have to be detected
    assert list(Dialogue.objects.values_list("external_id", flat=True)) == ["next"]


@pytest.mark.django_db
@pytest.mark.parametrize(("written", "meant"), [
    ("HM", "human_machine"), ("H-H", "human_human"), ("human machine", "human_machine"),
    ("PH", "pseudo_human"),
    ("Human-Human", "human_human"), ("TTS", "pseudo_human"), ("pseudohuman", "pseudo_human"),
    ("humanmachin", "human_machine"),
])  # fmt: skip
def test_an_unknown_kind_says_what_was_meant(written, meant, audio):
    (row,) = import_rows([{**BASE, "kind": written}], audio)
    told = next(m for m in row.messages if m["code"] == "unknown_kind")
    assert told["params"]["meant"] == meant


@pytest.mark.django_db
@pytest.mark.parametrize("written", ["gpt 4o", "GPT4o", "ＧＰＴ－４ｏ", "ChatGPT-4o"])
def test_systems_are_known_by_alias(written, audio):
    (row,) = import_rows([{**MACHINE, "system": written}], audio)
    assert row.dialogue.parties.get(label="B").system.name == "GPT-4o"


@pytest.mark.django_db
def test_the_published_alias_of_chatglm(audio):
    (row,) = import_rows([{**MACHINE, "system": "ChatGLM-1.5"}], audio)
    assert row.dialogue.parties.get(label="B").system.name == "ChatGLM-4.5"


@pytest.mark.django_db
def test_a_system_added_on_the_desk_is_known(audio):
    system = factories.SystemFactory(name="Our Own Voice", aliases=["oov"])
    (row,) = import_rows([{**MACHINE, "system": "OOV"}], audio)
    assert row.dialogue.parties.get(label="B").system == system


@pytest.mark.django_db
def test_an_unknown_system_is_a_question_that_can_be_answered(audio):
    row = {**MACHINE, "system": "Brand New 2"}
    (asked,) = import_rows([row], audio)
    assert [m["level"] for m in asked.messages] == ["question"]
    assert "--create-systems" not in worded(asked.messages[0])  # the desk has a box for it
    assert not System.objects.filter(name="Brand New 2").exists()

    (taken,) = import_rows([row], audio, create_systems=True)
    assert taken.state == "warned"
    assert "system_created" in codes(taken)
    assert taken.dialogue.parties.get(label="B").system.name == "Brand New 2"


@pytest.mark.django_db
def test_both_speakers_of_a_pseudo_human_dialogue_are_machines(audio):
    rows = [
        {**BASE, "kind": "pseudo_human", "system": "Spark-TTS"},
        {**BASE, "id": "d2", "kind": "pseudo_human", "system": "Own TTS", "audio": "c.flac"},
    ]
    for row in import_rows(rows, audio, create_systems=True):
        parties = row.dialogue.parties.all()
        assert {p.nature for p in parties} == {Nature.MACHINE}
        assert len({p.system_id for p in parties}) == 1


@pytest.mark.django_db
def test_topics_named_in_either_language_are_one(audio):
    rows = [
        {**BASE, "id": "d1", "topic": "生活", "language": "zh"},
        {**BASE, "id": "d2", "topic": "Daily Life", "audio": "b.wav"},
        {**BASE, "id": "d3", "topic": "围棋", "language": "zh", "audio": "c.flac"},
    ]
    done = import_rows(rows, audio)
    assert [row.dialogue.topic.code for row in done][:2] == ["daily_life", "daily_life"]
    assert done[2].dialogue.topic.label_zh == "围棋"
    assert Topic.objects.count() == 2


@pytest.mark.django_db
def test_consent_and_licence_are_kept_and_decide(audio):
    row = {
        **BASE, "speaker_a": "S01", "speaker_b": "S02", "licence": "CC-BY-4.0", "may_redistribute": "yes",
        "speaker_consent": "recorded played", "origin": "curated", "source_corpus": "DailyTalk",
    }  # fmt: skip
    (done,) = import_rows([row], audio)
    speaker, recording = Speaker.objects.get(code="S01"), done.dialogue.recording
    assert (speaker.may_play, speaker.may_publish, speaker.may_clone) == (True, False, False)
    assert (recording.may_play, recording.licence) == (True, "CC-BY-4.0")
    assert not recording.may_redistribute  # the licence allows it, the speakers did not
    assert done.dialogue.origin == "curated"


@pytest.mark.django_db
def test_a_speaker_who_withdrew_is_not_taken_in_again(audio):
    factories.SpeakerFactory(code="S01", withdrawn_at=timezone.now())
    factories.SpeakerFactory(code="S02", may_clone=False)
    rows = [
        {**BASE, "speaker_a": "S01"},
        {**BASE, "id": "d2", "kind": "pseudo_human", "system": "Spark-TTS", "speaker_b": "S02"},
    ]
    assert [codes(row) for row in import_rows(rows, audio)] == [{"speaker_withdrawn"}, {"speaker_not_cloned"}]


# sound and turns


@pytest.mark.django_db
def test_originals_are_kept_once_under_their_hash(audio, settings):
    shutil.copy(audio / "a.wav", audio / "copy of a.wav")
    first, second = import_rows([BASE, {**BASE, "id": "d2", "audio": "copy of a.wav"}], audio)

    assert first.dialogue.recording == second.dialogue.recording
    assert "same_sound" in codes(second)
    kept = Path(settings.MEDIA_ROOT) / first.dialogue.recording.path
    assert kept.read_bytes() == (audio / "a.wav").read_bytes()
    assert kept.stem == files.sha256(audio / "a.wav") == first.dialogue.recording.sha256
    assert not list(kept.parents[1].rglob(".incoming*"))


@pytest.mark.django_db
def test_one_sound_cannot_be_of_two_kinds(audio):
    _, second = import_rows([BASE, {**MACHINE, "id": "d2"}], audio)
    assert codes(second) == {"sound_of_other_kind"}


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["rttm", "json", "inline", "columns"])
def test_turns_come_in_by_every_way(way, audio):
    listed = [
        {"speaker": "A", "start": 0, "end": 0.4, "text": "Hello."},
        {"speaker": "B", "start": 0.5, "end": 0.9},
    ]
    (audio / "a.json").write_text(json.dumps(listed))
    (audio / "a.rttm").write_text(
        "SPEAKER a 1 0 0.4 <NA> <NA> A <NA> <NA>\nSPEAKER a 1 0.5 0.4 <NA> <NA> B <NA> <NA>\n"
    )
    ways: dict[str, dict] = {
        "rttm": {"turns": "a.rttm"}, "json": {"turns": "a.json"}, "inline": {"turns": json.dumps(listed)},
        "columns": {"turns_a": "0-0.4", "turns_b": "0.5-0.9"},
    }  # fmt: skip
    (done,) = import_rows([{**BASE, **ways[way]}], audio)
    assert done.state == "accepted"
    turns = done.dialogue.turns.select_related("party")
    assert [(t.party.label, t.start, t.end, t.source) for t in turns] == [
        ("A", 0, 0.4, "manifest"), ("B", 0.5, 0.9, "manifest"),
    ]  # fmt: skip
    assert turns[0].text == ("Hello." if way in ("json", "inline") else "")


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["bar", "list", "turns"])
def test_turns_in_files_of_their_own_are_joined(way, audio, settings):
    write(audio / "t1.wav", seconds=0.5, rate=48000)
    write(audio / "t2.wav", seconds=0.25, seed=9, rate=8000, channels=2)
    names = ["t1.wav", "t2.wav", "t1.wav"]
    ways: dict[str, dict] = {
        "bar": {"audio": "|".join(names)},
        "list": {"audio": names},
        "turns": {
            "audio": "",
            "turns": [{"speaker": s, "audio": n} for s, n in zip("ABA", names, strict=True)],
        },
    }
    row = {**BASE, **ways[way]}
    (done,) = import_rows([row], audio)
    assert done.state == "accepted", done.messages
    assert [(t.party.label, t.start, t.end) for t in done.dialogue.turns.select_related("party")] == [
        ("A", 0, 0.5), ("B", 0.7, 0.95), ("A", 1.15, 1.65),
    ]  # fmt: skip
    sound, rate = soundfile.read(Path(settings.MEDIA_ROOT) / done.dialogue.recording.path)
    assert len(sound) / rate == pytest.approx(1.65, abs=0.001)
    level = [
        np.sqrt(np.mean(sound[int(a * rate) : int(b * rate)] ** 2))
        for a, b in ((0, 0.5), (0.51, 0.69), (0.71, 0.94))
    ]
    assert level[0] > 0.01
    assert level[1] == pytest.approx(0, abs=1e-6)
    assert level[2] > 0.01
    assert done.dialogue.recording.is_joined
    kept = [one.recording for one in done.dialogue.turn_files.select_related("recording").order_by("index")]
    root = Path(settings.MEDIA_ROOT)
    assert [(root / one.path).read_bytes() for one in kept] == [(audio / name).read_bytes() for name in names]
    assert kept[0] == kept[2]
    assert [(one.sample_rate, one.channels, one.is_joined) for one in kept[:2]] == [
        (48000, 1, False), (8000, 2, False),
    ]  # fmt: skip
    assert Recording.objects.count() == 3
    (again,) = import_rows([row], audio)
    assert again.state == "unchanged"


@pytest.mark.django_db
def test_what_a_turns_file_loses_the_joined_recordings_lose(audio):
    for name in "xyz":
        write(audio / f"{name}.wav", seconds=0.5, seed=ord(name))
    rows = [
        {**BASE, "id": "first", "audio": "x.wav|y.wav"},
        {**BASE, "id": "then", "audio": "x.wav|z.wav", "may_play": "no"},
        {**BASE, "id": "later", "audio": "z.wav|y.wav"},
    ]
    made = import_rows(rows, audio)
    assert {one.state for one in made} <= {"accepted", "warned"}, [one.messages for one in made]
    for one in made:
        assert not Recording.objects.get(dialogues=one.dialogue).may_play
    assert Recording.objects.get(turn_files__dialogue=made[0].dialogue, turn_files__index=1).may_play


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["b.wav", "m.m4a"])
def test_one_file_is_kept_as_it_came(name, audio, settings):
    if name.endswith("m4a"):
        program = ffmpeg_program()
        if program is None:
            pytest.skip("no ffmpeg")
        subprocess.run([program, "-loglevel", "error", "-i", audio / "a.wav", audio / name], check=True)
    (done,) = import_rows([{**BASE, "audio": name}], audio)
    recording = done.dialogue.recording
    assert (Path(settings.MEDIA_ROOT) / recording.path).read_bytes() == (audio / name).read_bytes()
    assert not recording.is_joined
    assert not done.dialogue.turn_files.exists()


@pytest.mark.django_db
def test_two_channels_are_told_from_a_mixed_file(audio):
    mixed, split, swapped = import_rows(
        [
            BASE,
            {**BASE, "id": "d2", "audio": "b.wav"},
            {**BASE, "id": "d3", "audio": "b.wav", "channels": "BA"},
        ],
        audio,
    )
    assert "turns_detected" in codes(mixed)
    assert "turns_by_channel" in codes(split)
    assert swapped.dialogue.channels == "ba"


@pytest.mark.django_db
def test_a_recording_of_hours_is_refused(audio):
    soundfile.write(audio / "long.flac", np.zeros(8000 * 901, dtype=np.int16), 8000)
    (row,) = import_rows([{**BASE, "audio": "long.flac"}], audio)
    assert codes(row) == {"too_long"}


@pytest.mark.django_db
def test_nothing_of_a_refused_row_is_kept(audio, settings):
    (row,) = import_rows([{**BASE, "kind": "HM"}], audio)
    assert row.state == "refused"
    assert not list(Path(settings.MEDIA_ROOT).rglob("*.wav"))
    assert not Recording.objects.exists()


# again, elsewhere, otherwise


@pytest.mark.django_db
def test_the_same_file_again_changes_nothing(audio):
    rows = [
        BASE,
        {**MACHINE, "id": "d2", "audio": "c.flac", "topic": "food", "turns_a": "0-0.5", "turns_b": "0.5-1"},
    ]
    import_rows(rows, audio)
    before = list(Dialogue.objects.order_by("pk").values())
    again = import_rows(rows, audio)
    assert [row.state for row in again] == ["unchanged", "unchanged"]
    assert list(Dialogue.objects.order_by("pk").values()) == before
    assert ProcessingJob.objects.count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize("changed", [
    {"language": "zh"}, {"audio": "c.flac"}, {**MACHINE}, {"topic": "food"},
    {"turns_a": "0-0.5", "turns_b": "0.5-1"},
    {"licence": "CC0"},
])  # fmt: skip
def test_the_same_id_with_other_content_is_refused(changed, audio):
    import_rows([BASE], audio)
    (row,) = import_rows([{**BASE, **changed}], audio)
    assert row.state == "refused"
    assert codes(row) & {"other_content", "sound_of_other_kind"}


@pytest.mark.django_db
def test_dialogues_become_items_of_the_study_also_when_they_were_there(audio):
    study = factories.StudyFactory()
    import_rows([BASE], audio)
    (row,) = import_rows([BASE], audio, study=study)
    assert row.state == "unchanged"
    assert codes(row) == {"added_to_study"}
    (again,) = import_rows([BASE], audio, study=study)
    assert codes(again) == set()
    assert StudyItem.objects.filter(study=study).count() == 1


@pytest.mark.django_db
def test_the_role_in_the_study_comes_with_the_row(audio):
    study = factories.StudyFactory(opened_at=timezone.now())
    rows = [
        {**BASE, "role": "attention", "expected": "Machine"},
        {**BASE, "id": "d2", "audio": "b.wav", "role": "gold"},
        {**BASE, "id": "d3", "audio": "c.flac", "role": "", "expected": ""},
    ]
    taken = import_rows(rows, audio, study=study)
    assert {row.state for row in taken} <= {"accepted", "warned"}
    items = StudyItem.objects.order_by("dialogue__external_id").values_list("role", "expected", "block")
    assert list(items) == [("attention", "machine", 1), ("gold", "", 1), ("main", "", 1)]


@pytest.mark.django_db
def test_the_role_of_a_dialogue_that_is_there_is_kept_and_told(audio):
    study, other = factories.StudyFactory(), factories.StudyFactory()
    import_rows([BASE], audio, study=study)
    spoken = {**BASE, "role": "attention", "expected": "human"}
    (row,) = import_rows([spoken], audio, study=study)
    assert (row.state, codes(row)) == ("unchanged", {"role_kept"})
    import_rows([spoken], audio, study=other)
    roles = dict(StudyItem.objects.values_list("study", "role"))
    assert roles == {study.pk: "main", other.pk: "attention"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({"role": "attention"}, "no_expected"),
        ({"role": "attention", "expected": "-"}, "no_expected"),
        ({"role": "attention", "expected": "robot"}, "unknown_expected"),
        ({"role": "atention", "expected": "human"}, "unknown_role"),
        ({"role": "main", "expected": "human"}, "expected_not_expected"),
        ({"expected": "human"}, "expected_not_expected"),
    ],
)
def test_an_instruction_says_what_it_asks_for_and_nothing_else_does(cells, code, audio):
    (row,) = import_rows([{**BASE, **cells}], audio, study=factories.StudyFactory())
    assert (row.state, codes(row)) == ("refused", {code})


@pytest.mark.django_db
def test_a_system_that_comes_into_an_opened_study_starts_a_block(audio):
    study = factories.StudyFactory(opened_at=timezone.now())
    old = factories.DialogueFactory(
        kind="human_machine", system=factories.SystemFactory(name="Old", code="old")
    )
    factories.StudyItemFactory(study=study, dialogue=old)
    rows = [
        {**MACHINE, "system": "GPT-4o"},
        {**MACHINE, "id": "d2", "system": "Old", "audio": "b.wav"},
        {**BASE, "id": "d3", "audio": "c.flac"},
    ]
    import_rows(rows, audio, study=study)
    blocks = dict(StudyItem.objects.filter(study=study).values_list("dialogue__external_id", "block"))
    assert [blocks[name] for name in ("d1", "d2", "d3")] == [2, 1, 1]


@pytest.mark.django_db
def test_dry_run_reports_and_writes_nothing(audio, tmp_path, settings):
    path = tmp_path / "m.jsonl"
    path.write_bytes(as_manifest([BASE, {**BASE, "id": "d2", "kind": "HM"}, BASE]))
    out, error = run_command(path, audio, "--dry-run")
    assert error is None
    assert "1 accepted with a warning" in out
    assert "2 refused" in out
    assert not Dialogue.objects.exists()
    assert not ImportBatch.objects.exists()
    assert not Path(settings.MEDIA_ROOT).exists()


@pytest.mark.django_db
def test_exit_status_is_one_only_where_nothing_was_taken(audio, tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_bytes(as_manifest([{**BASE, "kind": "HM"}]))
    _, error = run_command(path, audio)
    assert error.returncode == 1
    path.write_bytes(as_manifest([{**BASE, "kind": "HM"}, {**BASE, "id": "d2"}]))
    assert run_command(path, audio)[1] is None
    assert run_command(path, audio)[1] is None  # unchanged counts as there


@pytest.mark.django_db
@pytest.mark.parametrize(("options", "words"), [
    (["--study", "nowhere"], "no study"),
    (["--audio", "/nowhere"], "not a folder"),
])  # fmt: skip
def test_wrong_options_are_told(options, words, audio, tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_bytes(as_manifest([BASE]))
    with pytest.raises(CommandError, match=words):
        call_command("import_dialogues", str(path), *options)


@pytest.mark.django_db
def test_a_report_is_safe_to_print(audio, tmp_path):
    path = tmp_path / "m.csv"
    with path.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(BASE)
        writer.writerow(["\x1b[31mred\x1b[0m", "human_human", "en", "\x1b]0;x\x07.wav"])
    out, error = run_command(path, audio)
    assert error is not None
    assert "\x1b" not in out + str(error)


# stopping, dying, going on


@pytest.mark.django_db
def test_a_killed_worker_loses_at_most_its_row_and_another_goes_on(audio):
    rows = [{**BASE, "id": f"d{n}"} for n in range(4)]
    batch = services.create_batch(
        name="m", manifest=read_manifest(as_manifest(rows), "m.jsonl"), folder="uploads/x"
    )

    class Killed(BaseException):
        """Stands for the process being gone: nothing below catches it."""

    def die(row):
        if row.external_id == "d1":
            raise Killed

    with pytest.raises(Killed):
        services.run_batch(batch_id=batch.pk, folders=[audio], on_row=die)
    assert Counter(batch.rows.values_list("state", flat=True)) == {"warned": 2, "pending": 2}
    assert services.waiting_batches() == []  # the lease still runs
    assert services.run_batch(batch_id=batch.pk, folders=[audio]) is None

    ImportBatch.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert services.waiting_batches() == [batch.pk]
    done = []
    services.run_batch(batch_id=batch.pk, folders=[audio], on_row=lambda row: done.append(row.external_id))
    assert done == ["d2", "d3"]
    assert Dialogue.objects.count() == 4
    batch.refresh_from_db()
    assert batch.state == ImportBatch.State.DONE


@pytest.mark.django_db
def test_a_worker_whose_lease_was_taken_writes_nothing_more(audio):
    rows = [{**BASE, "id": f"d{n}"} for n in range(3)]
    batch = services.create_batch(name="m", manifest=read_manifest(as_manifest(rows), "m.jsonl"))

    def taken(row):
        ImportBatch.objects.update(claim="another")

    assert services.run_batch(batch_id=batch.pk, folders=[audio], on_row=taken) is None
    assert Dialogue.objects.count() == 1


@pytest.mark.django_db
def test_a_row_that_ends_the_worker_is_left_out_after_three_tries(audio):
    batch = services.create_batch(
        name="m",
        manifest=read_manifest(as_manifest([BASE, {**BASE, "id": "d2"}]), "m.jsonl"),
        folder="uploads/x",
    )

    class Killed(BaseException):
        pass

    def killed(*args, **kwargs):
        raise Killed

    for _ in range(services.TRIES):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(services, "check_row", killed)
            with pytest.raises(Killed):
                services.run_batch(batch_id=batch.pk, folders=[audio])
        ImportBatch.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    services.run_batch(batch_id=batch.pk, folders=[audio])
    first, second = batch.rows.order_by("line")
    assert codes(first) == {"ends_worker"}
    assert second.state == "warned"


@pytest.mark.django_db
def test_a_full_disk_stops_the_import_and_loses_nothing(audio, monkeypatch):
    batch = services.create_batch(
        name="m", manifest=read_manifest(as_manifest([BASE]), "m.jsonl"), folder="uploads/x"
    )

    def full(path):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(services, "keep", full)
        services.run_batch(batch_id=batch.pk, folders=[audio])
    batch.refresh_from_db()
    assert (batch.state, batch.trouble) == (ImportBatch.State.STOPPED, "No space left on device")
    services.resume_batch(batch=batch)
    services.run_batch(batch_id=batch.pk, folders=[audio])
    assert Dialogue.objects.count() == 1


@pytest.mark.django_db
def test_stopping_keeps_what_was_taken_and_going_on_takes_the_rest(audio):
    rows = [{**BASE, "id": f"d{n}"} for n in range(3)]
    batch = services.create_batch(
        name="m", manifest=read_manifest(as_manifest(rows), "m.jsonl"), folder="uploads/x"
    )

    def stop(row):
        services.stop_batch(batch=batch)

    services.run_batch(batch_id=batch.pk, folders=[audio], on_row=stop)
    batch.refresh_from_db()
    assert batch.state == ImportBatch.State.STOPPED
    assert Dialogue.objects.count() == 1
    services.resume_batch(batch=batch)
    services.run_batch(batch_id=batch.pk, folders=[audio])
    assert Dialogue.objects.count() == 3


@pytest.mark.django_db
def test_preview_writes_no_dialogue_and_confirming_does(audio):
    rows = [
        BASE,
        {**MACHINE, "id": "d2", "system": "Brand New", "audio": "c.flac"},
        {**BASE, "id": "d3", "kind": "HM"},
    ]
    manifest = read_manifest(as_manifest(rows) + b"\n{broken", "m.jsonl")
    batch = services.create_batch(name="m", manifest=manifest, folder="uploads/x", preview=True)
    assert services.waiting_batches() == [batch.pk]
    services.check_batch(batch_id=batch.pk, folders=[audio])
    assert [row.state for row in batch.rows.order_by("line")] == ["warned", "refused", "refused", "refused"]
    assert not Dialogue.objects.exists()
    assert services.waiting_batches() == []

    batch.refresh_from_db()
    services.confirm_batch(batch=batch, create_systems=True)
    assert services.waiting_batches() == [batch.pk]
    services.run_batch(batch_id=batch.pk, folders=[audio])
    assert [row.state for row in batch.rows.order_by("line")] == ["warned", "warned", "refused", "refused"]
    assert Dialogue.objects.count() == 2


@pytest.mark.django_db
def test_a_command_that_was_killed_is_closed_and_can_be_run_again(audio):
    batch = services.create_batch(name="m", manifest=read_manifest(as_manifest([BASE]), "m.jsonl"))
    ImportBatch.objects.update(state="running", lease_until=timezone.now() - timedelta(seconds=1))
    assert services.waiting_batches() == []
    assert services.close_left_behind() == 1
    batch.refresh_from_db()
    assert batch.state == ImportBatch.State.STOPPED


@pytest.mark.django_db(transaction=True)
def test_two_imports_of_the_same_rows_at_once_end_with_one_set(audio):
    rows = [{**BASE, "id": f"d{n}"} for n in range(6)]
    batches = [
        services.create_batch(
            name=str(n), manifest=read_manifest(as_manifest(rows), "m.jsonl"), create_systems=True
        )
        for n in range(2)
    ]

    def run(pk):
        try:
            services.run_batch(batch_id=pk, folders=[audio])
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(batch.pk,)) for batch in batches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Dialogue.objects.count() == 6
    assert set(ImportRow.objects.values_list("state", flat=True)) <= {"warned", "unchanged"}
    assert {b.state for b in ImportBatch.objects.all()} == {"done"}
    assert not Flag.objects.exists()


@pytest.mark.django_db
def test_load_systems_adds_what_is_missing_once():
    factories.SystemFactory(name="GPT-4o", code="ours")
    call_command("load_systems", stdout=io.StringIO())
    count = System.objects.count()
    out = io.StringIO()
    call_command("load_systems", stdout=out)
    assert System.objects.count() == count == 11
    assert out.getvalue().startswith("0 ")
    assert System.objects.get(code="ours").vendor == ""


@pytest.mark.django_db
def test_tasks_find_what_waits_and_come_twice_without_harm(audio, settings, monkeypatch):
    settings.MEDIA_ROOT = audio.parent
    sent: list[int] = []
    monkeypatch.setattr(tasks.run_import, "delay", sent.append)
    monkeypatch.setattr(tasks.sweep_processing, "delay", lambda: None)
    manifest = read_manifest(as_manifest([BASE]), "m.jsonl")
    batch = services.create_batch(name="m", manifest=manifest, folder="audio", preview=True)

    tasks.sweep_imports()
    assert sent == [batch.pk]
    tasks.run_import(batch.pk)
    tasks.run_import(batch.pk)
    assert not Dialogue.objects.exists()
    services.confirm_batch(batch=batch)
    tasks.run_import(batch.pk)
    tasks.run_import(batch.pk)
    assert Dialogue.objects.count() == 1
    assert batch.rows.get().state == "warned"
    sent.clear()
    tasks.sweep_imports()
    assert sent == []


@needs_cases
@pytest.mark.django_db
def test_the_command_processes_what_it_took_in(settings):
    out = io.StringIO()
    call_command(
        "import_dialogues",
        str(CASES / "manifests/mixed_quality.csv"),
        "--audio",
        str(CASES / "audio"),
        stdout=out,
    )
    assert "2/2" in out.getvalue()
    assert set(Dialogue.objects.values_list("state", flat=True)) == {"ready"}
    found = dialogue("d2").turns.select_related("party")
    assert [turn.party.label for turn in found] == ["A", "B", "A", "B"]

"""Dialogues declared without sound: taken in as rows, counted with their length, never played."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from dialogues.importing.manifest import ManifestRefused, read_manifest
from dialogues.importing.services import create_batch, run_batch
from dialogues.models import Dialogue, Flag, ImportRow, Kind, Nature, ProcessingJob, StudyItem
from studies.models import Study
from tests import factories

pytestmark = pytest.mark.django_db

MANIFEST = """id,kind,language,duration,system,strategy,topic
hh1,human_human,en,32.5,,,travel
hm1,human_machine,en,41,GPT-4o,role_play,work
hm2,human_machine,zh,20,,,
ph1,pseudo_human,zh,"27,4",,,生活
"""


@pytest.fixture
def study(db: None) -> Study:
    study: Study = factories.StudyFactory(slug="elsewhere")
    return study


def run(text: str, folder: Path, *options: str) -> str:
    path = folder / "manifest.csv"
    path.write_text(text, encoding="utf-8")
    out = io.StringIO()
    call_command("import_dialogues", str(path), *options, stdout=out)
    return out.getvalue()


def codes(text: str) -> list[set[str]]:
    batch = create_batch(name="m.csv", manifest=read_manifest(text.encode(), "m.csv"))
    run_batch(batch_id=batch.pk, folders=[])
    return [{message["code"] for message in row.messages} for row in batch.rows.order_by("line")]


def test_declared_rows_are_taken_in_with_their_length(study: Study, tmp_path: Path) -> None:
    told = run(MANIFEST, tmp_path, "--study", "elsewhere")

    assert "4 accepted" in told
    found = {one.external_id: one for one in Dialogue.objects.all()}
    assert {name: one.play_duration for name, one in found.items()} == {
        "hh1": 32.5, "hm1": 41.0, "hm2": 20.0, "ph1": 27.4,
    }  # fmt: skip
    assert {one.state for one in found.values()} == {Dialogue.State.DECLARED}
    assert StudyItem.objects.filter(study=study).count() == 4
    natures = {name: dict(one.parties.values_list("label", "nature")) for name, one in found.items()}
    assert natures == {
        "hh1": {"A": Nature.HUMAN, "B": Nature.HUMAN},
        "hm1": {"A": Nature.HUMAN, "B": Nature.MACHINE},
        "hm2": {"A": Nature.HUMAN, "B": Nature.MACHINE},
        "ph1": {"A": Nature.MACHINE, "B": Nature.MACHINE},
    }
    assert found["hm1"].parties.get(label="B").system.name == "GPT-4o"  # type: ignore[union-attr]
    assert found["hm2"].parties.get(label="B").system is None


def test_nothing_of_them_can_be_played_or_processed(study: Study, tmp_path: Path) -> None:
    run(MANIFEST, tmp_path, "--study", "elsewhere")

    assert not Dialogue.objects.playable().exists()
    assert not ProcessingJob.objects.exists()
    assert not Dialogue.objects.exclude(play_path="", recording=None).exists()


def test_the_same_file_again_changes_nothing(study: Study, tmp_path: Path) -> None:
    run(MANIFEST, tmp_path, "--study", "elsewhere")
    before = list(Dialogue.objects.order_by("pk").values())

    assert "4 unchanged" in run(MANIFEST, tmp_path, "--study", "elsewhere")
    assert list(Dialogue.objects.order_by("pk").values()) == before


@pytest.mark.parametrize("length", ["0", "-3", "nan", "inf", "long", "901", "1:30"])
def test_a_length_that_is_none_is_refused(length: str) -> None:
    assert codes(f"id,kind,language,duration\nd1,human_human,en,{length}\n")[0] & {"bad_duration", "formula"}
    assert not Dialogue.objects.exists()


def test_an_empty_length_without_sound_is_refused() -> None:
    said = codes("id,kind,language,duration\nd1,human_human,en,\nd2,human_human,en,-\nd3,human_human,en,30\n")
    assert said == [{"no_audio"}, {"no_audio"}, {"declared"}]


def test_another_length_under_the_same_id_is_refused() -> None:
    text = "id,kind,language,duration\nd1,human_human,en,30\n"
    codes(text)
    assert codes(text.replace("30", "31")) == [{"other_content"}]
    assert Dialogue.objects.get().play_duration == 30


def test_a_spoken_instruction_needs_sound() -> None:
    text = "id,kind,language,duration,role,expected\nd1,human_human,en,30,attention,human\n"
    assert codes(text) == [{"role_without_sound"}]


def test_a_header_without_sound_and_length_is_refused() -> None:
    with pytest.raises(ManifestRefused) as caught:
        read_manifest(b"id,kind,language\nd1,human_human,en\n", "m.csv")
    assert caught.value.params["missing"] == "audio"


def test_a_system_stays_needed_where_there_is_sound() -> None:
    said = codes("id,kind,language,audio\nd1,human_machine,en,a.wav\n")
    assert "no_system" in said[0]


def test_json_lines_declare_too(tmp_path: Path) -> None:
    line = '{"id": "d1", "kind": "human_machine", "language": "en", "duration": 22.25}'
    batch = create_batch(name="m.jsonl", manifest=read_manifest(line.encode(), "m.jsonl"))
    run_batch(batch_id=batch.pk, folders=[])
    assert batch.rows.get().state == ImportRow.State.ACCEPTED
    found = Dialogue.objects.get()
    assert (found.kind, found.play_duration) == (Kind.HUMAN_MACHINE, 22.25)


def test_a_file_of_refused_rows_only_fails(study: Study, tmp_path: Path) -> None:
    with pytest.raises(CommandError):
        run("id,kind,language,duration\nd1,human_human,en,none\n", tmp_path)


def test_an_unusual_declared_length_is_flagged_like_a_measured_one(tmp_path: Path) -> None:
    run(MANIFEST.replace(",en,41,", ",en,75.5,").replace(",zh,20,", ",zh,19.9,"), tmp_path)
    flags = Flag.objects.order_by("dialogue__external_id")
    found = [(flag.dialogue.external_id, flag.rule, flag.value, flag.source) for flag in flags]
    assert found == [("hm1", "duration", 75.5, "quality"), ("hm2", "duration", 19.9, "quality")]

"""The desk's pages of the corpus: access, dialogues, processing again, uploads, a killed worker."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
import zipfile
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from dialogues import tasks
from dialogues.importing import services, uploads
from dialogues.importing.rows import check_row
from dialogues.models import Dialogue, ImportBatch, ImportRow, ProcessingJob, Recording, StudyItem, TurnFile
from dialogues.processing.services import run_waiting
from tests import factories
from turingsite.celery import app
from turingsite.desk.corpus import to

ROOT = Path(__file__).parents[2]
HEADER = "id,kind,language,audio,system\n"


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture(autouse=True)
def woken(monkeypatch):
    """Tasks that pages send, as (task, row); nothing runs by itself."""
    app.finalize()  # or the first request makes other objects of the tasks
    sent = []
    for task in (tasks.run_import, tasks.process_dialogue):
        name = task.name.rsplit(".", 1)[1]
        monkeypatch.setattr(task, "apply_async", lambda args, name=name, **_: sent.append((name, *args)))
    monkeypatch.setattr(tasks, "sweep_processing", SimpleNamespace(delay=lambda: None))
    return sent


def clip(seconds: float = 1.0, seed: int = 1, channels: int = 1) -> bytes:
    target = io.BytesIO()
    noise = np.random.default_rng(seed).normal(0, 0.1, (int(16000 * seconds), channels)).squeeze()
    soundfile.write(target, noise, 16000, format="WAV")
    return target.getvalue()


def zipped(files: dict[str, bytes], **changes) -> SimpleUploadedFile:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = changes.get("mode", stat.S_IFREG | 0o644) << 16
            archive.writestr(info, content)
    return SimpleUploadedFile("upload.zip", target.getvalue(), "application/zip")


def rows(*lines: str) -> bytes:
    return (HEADER + "\n".join(lines) + "\n").encode()


def upload(client, *files: SimpleUploadedFile, **data: str):
    return client.post(url("import_new"), {"upload": list(files), **data})


def unpacked(settings) -> list[Path]:
    folder = Path(settings.MEDIA_ROOT) / "uploads"
    return list(folder.iterdir()) if folder.exists() else []


# who may see what


@pytest.fixture
def scene(cast):
    """A dialogue of the cast's study, processed or not, and an import into that study."""
    dialogue = factories.DialogueFactory(external_id="theirs")
    factories.StudyItemFactory(study=cast.study, dialogue=dialogue)
    ProcessingJob.objects.create(dialogue=dialogue, state="done")
    batch = ImportBatch.objects.create(
        name="m.csv", study=cast.study, user=cast.researcher, folder="uploads/x/"
    )
    return dialogue, batch


@pytest.mark.django_db
@pytest.mark.parametrize(
    "who", ["operator", "researcher", "colleague", "reviewer", "stranger", "annotator", "anonymous"]
)
def test_pages_of_the_corpus_open_to_the_studys_people(client, cast, scene, who):
    dialogue, batch = scene
    person = {
        "operator": lambda: factories.UserFactory(is_staff=True, is_superuser=True),
        "annotator": lambda: cast.annotator.user,
        "anonymous": lambda: None,
    }.get(who, lambda: getattr(cast, who))()
    if person:
        client.force_login(person)
    inside = who in ("operator", "researcher", "colleague")
    outside = 302 if who in ("annotator", "anonymous") else 404
    for page in (url("dialogue", dialogue.code), url("import", batch.pk), url("original", dialogue.code)):
        expected = 200 if inside else outside
        if "original" in page and inside:
            expected = 404  # no file was written
        assert client.get(page).status_code == expected, page
    lists = 200 if inside or who == "stranger" else outside
    for page in (url("dialogues"), url("imports"), url("import_new"), url("import_template")):
        assert client.get(page).status_code == lists, page
    for page in (url("listen", dialogue.code), url("turns", dialogue.code)):
        expected = 404 if "listen" in page and inside else 200
        assert client.get(page).status_code == (expected if inside else outside), page
    turn = {"was": "", "speaker": "A", "start": "0", "end": "1", "text": ""}
    for name, data in (("process", {}), ("turns", turn), ("flag", {}), ("aggressive", {"reason": "rude"})):
        page = url(name, dialogue.code)
        assert client.post(page, data).status_code == (302 if inside else outside), page
    stopped = client.post(url("import_step", batch.pk, "stop")).status_code
    assert stopped == (302 if who in ("operator", "researcher", "annotator", "anonymous") else 404)


@pytest.mark.django_db
def test_lists_show_own_rows_only(client, cast, scene):
    factories.DialogueFactory(external_id="nobodys")
    client.force_login(cast.stranger)
    assert client.get(url("dialogues")).context["rows"] == []
    assert client.get(url("imports")).context["page"].rows == []
    client.force_login(cast.colleague)
    assert [row["dialogue"].external_id for row in client.get(url("dialogues")).context["rows"]] == ["theirs"]
    assert len(client.get(url("imports")).context["page"].rows) == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("query", "expected"), [
    ("", ["hh-en", "hm-zh", "ph-en"]),
    ("?kind=human_machine", ["hm-zh"]),
    ("?language=en", ["hh-en", "ph-en"]),
    ("?state=failed", ["ph-en"]),
    ("?q=hh", ["hh-en"]),
    ("?study=conversations&kind=human_human", ["hh-en"]),
    ("?flag=duration", ["hm-zh"]),
    ("?kind=nonsense", ["hh-en", "hm-zh", "ph-en"]),
    ("?after=hh-en", ["hm-zh", "ph-en"]),
    ("?q=%00", ["hh-en", "hm-zh", "ph-en"]),
])  # fmt: skip
def test_filters_of_the_list(client, cast, query, expected):
    for name, kind, language in (
        ("hh-en", "human_human", "en"),
        ("hm-zh", "human_machine", "zh"),
        ("ph-en", "pseudo_human", "en"),
    ):
        dialogue = factories.DialogueFactory(external_id=name, kind=kind, language=language)
        factories.StudyItemFactory(study=cast.study, dialogue=dialogue)
    Dialogue.objects.filter(external_id="ph-en").update(state="failed")
    Dialogue.objects.get(external_id="hm-zh").flags.create(rule="duration", value=9, evidence={})
    client.force_login(cast.researcher)
    page = client.get(url("dialogues") + query)
    assert [row["dialogue"].external_id for row in page.context["rows"]] == expected


@pytest.mark.django_db
def test_systems_are_added_by_researchers_and_changed_by_operators(client, cast):
    system = factories.SystemFactory()
    there = reverse("admin:dialogues_system_change", args=[system.pk])
    form = {
        "name": "Fresh",
        "code": "fresh",
        "role": "s2s",
        "languages": "[]",
        "aliases": "[]",
        "benchmark": "{}",
    }
    client.force_login(cast.researcher)
    assert client.get(there).status_code == 200
    assert client.post(there, {**form, "name": "Changed"}).status_code == 403
    assert client.post(reverse("admin:dialogues_system_add"), form).status_code == 302
    assert type(system).objects.filter(code="fresh").exists()
    client.force_login(cast.reviewer)
    assert client.get(there).status_code == 404
    assert client.get(reverse("admin:dialogues_system_changelist")).status_code == 404


@pytest.mark.django_db
def test_speakers_of_other_studies_are_not_shown(client, cast):
    other = factories.SpeakerFactory(code="theirs")
    client.force_login(cast.researcher)
    assert client.get(reverse("admin:dialogues_speaker_change", args=[other.pk])).status_code == 404
    assert "theirs" not in client.get(reverse("admin:dialogues_speaker_changelist")).content.decode()


# one dialogue


@pytest.fixture
def processed(client, cast, settings):
    """A dialogue taken in through the desk and processed; its page."""
    client.force_login(cast.researcher)
    manifest = (
        b"id,kind,language,audio,turns_a,turns_b,topic\nd1,human_human,en,a.wav,0-3; 6-9,3.2-5.8,food\n"
    )
    upload(client, zipped({"manifest.csv": manifest, "a.wav": clip(9.5)}), study=cast.study.slug)
    batch = ImportBatch.objects.get()
    tasks.run_import(batch.pk)
    client.post(url("import_step", batch.pk, "confirm"))
    tasks.run_import(batch.pk)
    run_waiting()
    return Dialogue.objects.get()


@pytest.mark.django_db
def test_a_dialogue_is_shown_with_waveform_turns_numbers_and_flags(client, processed):
    page = client.get(url("dialogue", processed.code))
    text = page.content.decode()
    assert page.context["picture"]["points"].count(",") == 2 * len(processed.peaks)
    assert [block["lane"] for block in page.context["picture"]["blocks"]] == ["a", "b", "a"]
    assert "length outside 20–60 s" in text
    assert "Loudness of A (LUFS)" in text
    assert "published-1: every gap redrawn from 180–230 ms" in text
    numbers = {what: (before, after) for what, before, after in page.context["numbers"]}
    assert numbers["Bytes per second"] == ("", "6000")
    assert numbers["Sample rate (Hz)"] == ("16000", "24000")
    assert numbers["Length (s)"][0] == "9.5"
    assert "-0.0<" not in text
    assert "style=" not in text
    assert "<script>" not in text


@pytest.mark.django_db
def test_the_desk_plays_with_ranges_and_gives_the_original(client, processed):
    whole = client.get(url("sound", processed.code))
    part = client.get(url("sound", processed.code), headers={"Range": "bytes=0-1"})
    assert (whole.status_code, part.status_code, len(part.content)) == (200, 206, 2)
    assert client.get(url("sound", processed.code), headers={"Range": "bytes=99999999-"}).status_code == 416
    saved = client.get(url("original", processed.code))
    assert b"".join(saved.streaming_content) == clip(9.5)
    assert 'filename="d1.wav"' in saved["Content-Disposition"]


@pytest.mark.django_db(transaction=True)
def test_processing_again(client, processed, woken):
    woken.clear()
    client.post(url("process", processed.code), {"profile": "published-1"})
    job = ProcessingJob.objects.get()
    assert (job.state, job.gap_profile) == ("queued", "published-1")
    assert woken == [("process_dialogue", job.pk)]


@pytest.mark.django_db
def test_turns_corrected_to_one_speaker_are_flagged_once_processed(client, processed):
    def store(speakers):
        rows = {
            "was": ["0", "1", "2"],
            "start": ["0", "3.2", "6"],
            "end": ["3", "5.8", "9"],
            "text": [""] * 3,
        }
        answer = client.post(url("turns", processed.code), {**rows, "speaker": list(speakers)}, follow=True)
        run_waiting()
        return answer.content.decode(), client.get(url("dialogue", processed.code)).content.decode()

    told, page = store("AAA")
    assert "Only one speaker has turns; a dialogue has two." in told
    assert "fewer than two speakers" in page
    assert processed.flags.filter(rule="few_speakers").exists()
    told, page = store("ABA")
    assert "Only one speaker has turns" not in told
    assert not processed.flags.filter(rule="few_speakers").exists()


# uploads


@pytest.mark.django_db(transaction=True)
def test_an_upload_is_looked_at_before_it_is_taken_in(client, cast, settings, woken):
    client.force_login(cast.researcher)
    manifest = rows(
        "d1,human_human,en,sound/a.wav,", "d2,human_machine,en,sound/b.wav,Brand New", "d3,HM,en,x.wav,"
    )
    answer = upload(
        client,
        zipped(
            {
                "set/manifest.csv": manifest,
                "set/sound/a.wav": clip(),
                "set/sound/b.wav": clip(seed=2),
                "__MACOSX/x": b"",
            }
        ),
        study=cast.study.slug,
    )
    batch = ImportBatch.objects.get()
    assert answer.url == url("import", batch.pk)
    assert (batch.state, batch.user, batch.study) == ("preview", cast.researcher, cast.study)
    assert woken == [("run_import", batch.pk)]
    page = client.get(answer.url)
    assert page.context["busy"]
    assert "data-renew" in page.content.decode()
    early = client.post(url("import_step", batch.pk, "confirm"), follow=True)
    assert "still being checked" in early.content.decode()

    tasks.run_import(batch.pk)
    page = client.get(answer.url)
    assert (page.context["checked"], page.context["good"], page.context["questions"]) == (True, 1, 1)
    assert "--create-systems" not in page.content.decode()
    assert "tick the box above" in page.content.decode()
    assert not Dialogue.objects.exists()
    assert not Recording.objects.exists()

    client.post(url("import_step", batch.pk, "confirm"), {"create_systems": "yes"})
    tasks.run_import(batch.pk)
    assert set(Dialogue.objects.values_list("external_id", flat=True)) == {"d1", "d2"}
    assert StudyItem.objects.filter(study=cast.study).count() == 2
    page = client.get(answer.url).content.decode()
    assert "Processing is under way: 0 of 2 dialogues" in page
    assert f"{url('dialogues')}?study={cast.study.slug}" in page
    assert "will be created" not in page
    run_waiting()
    assert "Processed: 2 of 2 dialogues." in client.get(answer.url).content.decode()
    assert unpacked(settings) == []  # what was taken in is kept under its hash
    again = client.post(url("import_step", batch.pk, "confirm"), follow=True)
    assert "confirmed or stopped already" in again.content.decode()
    filtered = client.get(url("import", batch.pk) + "?state=refused")
    assert [one["row"].external_id for one in filtered.context["rows"]] == ["d3"]


def two_previewed(client, cast) -> ImportBatch:
    client.force_login(cast.researcher)
    manifest = rows("d1,human_human,en,a.wav,", "d2,human_human,en,b.wav,")
    upload(client, zipped({"manifest.csv": manifest, "a.wav": clip(), "b.wav": clip(seed=2)}))
    return ImportBatch.objects.get()


def confirm_all(client, batch: ImportBatch) -> None:
    assert not Dialogue.objects.exists()
    client.post(url("import_step", batch.pk, "confirm"))
    tasks.run_import(batch.pk)
    assert Dialogue.objects.count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize("checked", [0, 1, 2])
def test_a_preview_that_was_stopped_goes_on_as_a_preview(client, cast, settings, checked):
    batch = two_previewed(client, cast)
    seen = []

    def stop(row):
        seen.append(row)
        if len(seen) == checked:
            client.post(url("import_step", batch.pk, "stop"))

    if checked:
        folders = services.upload_folders(batch)
        services.check_batch(batch_id=batch.pk, folders=folders, on_row=stop)
    else:
        client.post(url("import_step", batch.pk, "stop"))
    tasks.run_import(batch.pk)  # sent before it was stopped
    page = client.get(url("import", batch.pk)).content.decode()
    assert "Nothing is taken in yet." in page
    assert "What was taken in stays." not in page
    client.post(url("import_step", batch.pk, "confirm"))
    assert ImportBatch.objects.get().state == "stopped"

    client.post(url("import_step", batch.pk, "resume"))
    tasks.run_import(batch.pk)
    page = client.get(url("import", batch.pk))
    assert page.context["checked"]
    assert "Take them in" in page.content.decode()
    assert len(unpacked(settings)) == 1
    confirm_all(client, batch)


@pytest.mark.django_db
def test_a_full_disk_in_the_preview_leads_back_to_the_preview(client, cast, monkeypatch):
    batch = two_previewed(client, cast)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(services, "check_row", full)
        tasks.run_import(batch.pk)
    assert "No space left on device" in client.get(url("import", batch.pk)).content.decode()
    client.post(url("import_step", batch.pk, "resume"))
    tasks.run_import(batch.pk)
    assert client.get(url("import", batch.pk)).context["checked"]
    confirm_all(client, batch)


@pytest.mark.django_db
def test_a_check_that_ends_late_does_not_settle_a_row_that_waits_to_be_imported(client, cast, monkeypatch):
    batch = two_previewed(client, cast)
    begun = []

    def slow(*args, **kwargs):
        found = check_row(*args, **kwargs)
        begun.append(found)
        if len(begun) == 1:  # meanwhile it is stopped, goes on with another worker and is confirmed
            client.post(url("import_step", batch.pk, "stop"))
            client.post(url("import_step", batch.pk, "resume"))
            tasks.run_import(batch.pk)
            client.post(url("import_step", batch.pk, "confirm"))
        return found

    monkeypatch.setattr(services, "check_row", slow)
    tasks.run_import(batch.pk)
    assert set(batch.rows.values_list("state", flat=True)) == {"pending"}
    confirm_all(client, batch)


@pytest.mark.django_db
def test_an_old_preview_that_was_stopped_has_another_week_when_it_goes_on(client, cast, settings):
    batch = two_previewed(client, cast)
    client.post(url("import_step", batch.pk, "stop"))
    ImportBatch.objects.update(created_at=timezone.now() - timedelta(days=8))
    client.post(url("import_step", batch.pk, "resume"))
    assert services.drop_old_previews() == []
    tasks.run_import(batch.pk)
    confirm_all(client, batch)


@pytest.mark.django_db
def test_single_files_are_taken_as_well(client, cast):
    client.force_login(cast.researcher)
    rttm = b"SPEAKER a 1 0 0.4 <NA> <NA> A <NA> <NA>\nSPEAKER a 1 0.5 0.4 <NA> <NA> B <NA> <NA>\n"
    manifest = b"id;kind;language;audio;turns\nd1;human_human;zh;a.wav;a.rttm\n"
    upload(
        client,
        SimpleUploadedFile("mine.csv", manifest),
        SimpleUploadedFile("a.wav", clip()),
        SimpleUploadedFile("a.rttm", rttm),
        SimpleUploadedFile("empty.wav", b""),
    )
    batch = ImportBatch.objects.get()
    tasks.run_import(batch.pk)
    assert batch.rows.get().state == "accepted"


def files(**more: bytes) -> dict[str, bytes]:
    return {"manifest.csv": rows("d1,human_human,en,a.wav,"), "a.wav": clip(), **more}


def outcome() -> str:
    tasks.run_import(ImportBatch.objects.get().pk)
    return str(ImportBatch.objects.get().rows.get().state)


@pytest.mark.django_db
@pytest.mark.parametrize("top", ["", "my study/"])
def test_a_zip_may_hold_the_recordings_in_one_folder_of_their_own(client, cast, top):
    client.force_login(cast.researcher)
    upload(client, zipped({f"{top}mine.csv": rows("d1,human_human,en,a.wav,"), f"{top}sound/a.wav": clip()}))
    assert outcome() == "warned"


@pytest.mark.django_db
def test_of_several_folders_none_is_guessed_at(client, cast):
    client.force_login(cast.researcher)
    two = {"mine.csv": rows("d1,human_human,en,a.wav,"), "x/a.wav": clip(), "y/a.wav": clip()}
    upload(client, zipped(two))
    assert outcome() == "refused"


BAD_ZIPS = {
    "climbs out": lambda: zipped(files(**{"../../outside.wav": b"x"})),
    "absolute": lambda: zipped(files(**{"/etc/outside": b"x"})),
    "drive": lambda: zipped(files(**{"C:\\outside": b"x"})),
    "climbs by backslash": lambda: zipped(files(**{"..\\outside": b"x"})),
    "links": lambda: zipped(files(), mode=stat.S_IFLNK | 0o777),
    "fifo": lambda: zipped(files(), mode=stat.S_IFIFO | 0o644),
    "bomb": lambda: zipped(files(**{"big.wav": bytes(60_000_000)})),
    "no manifest": lambda: zipped({"a.wav": clip()}),
    "two manifests": lambda: zipped({"one.csv": rows(), "two.csv": rows()}),
    "file and folder": lambda: zipped(files(**{"x": b"1", "x/y": b"2"})),
    "cut off": lambda: SimpleUploadedFile("u.zip", zipped(files()).read()[:-40]),
    "wrong header": lambda: zipped({"manifest.csv": b"dialogue,type,lang\nd1,HM,en\n"}),
    "workbook": lambda: SimpleUploadedFile("m.xlsx", zipped({"xl/workbook.xml": b"<x/>"}).read()),
    "not a table": lambda: SimpleUploadedFile("m.csv", os.urandom(5000)),
    "empty": lambda: SimpleUploadedFile("m.csv", b""),
    "damaged": lambda: SimpleUploadedFile("u.zip", damaged(zipped(files()).read())),
}


def damaged(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes(b ^ 0xFF for b in data[middle : middle + 200]) + data[middle + 200 :]


@pytest.mark.django_db
@pytest.mark.parametrize("kind", BAD_ZIPS)
def test_an_upload_that_cannot_be_used_is_told_and_leaves_nothing(
    client, cast, settings, tmp_path, kind, monkeypatch
):
    monkeypatch.setattr(uploads, "RATIO_FROM", 1_000_000)
    client.force_login(cast.researcher)
    answer = upload(client, BAD_ZIPS[kind]())
    assert answer.status_code == 400, kind
    form = answer.context["form"]
    assert form.errors
    assert "Traceback" not in answer.content.decode()
    assert not ImportBatch.objects.exists()
    assert unpacked(settings) == []
    assert not list(tmp_path.rglob("outside*"))


@pytest.mark.django_db
def test_a_zip_that_unpacks_beyond_the_limit_is_stopped_by_what_it_writes(
    client, cast, settings, monkeypatch
):
    monkeypatch.setattr(uploads, "MOST_BYTES", 50_000)
    client.force_login(cast.researcher)
    assert upload(client, zipped(files(**{"b.wav": os.urandom(80_000)}))).status_code == 400
    assert unpacked(settings) == []


@pytest.mark.django_db
def test_names_written_by_chinese_systems_are_read(client, cast, settings):
    client.force_login(cast.researcher)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("manifest.csv", rows("d1,human_human,zh,录音/甲.wav,"))
        archive.writestr("录音/甲.wav", clip())
    # as Windows in Chinese writes it: GBK bytes, and no flag that says what they are
    names = ("录音/甲.wav".encode(), "录音/甲.wav".encode("gbk"))
    data = bytearray(target.getvalue())
    raw = target.getvalue()
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as source, zipfile.ZipFile(made, "w") as out:
        for entry in source.infolist():
            name = entry.filename if entry.filename.isascii() else names[1].decode("cp437")
            info = zipfile.ZipInfo("x" * len(name) if not name.isascii() else name)
            out.writestr(info, source.read(entry))
    data = bytearray(made.getvalue().replace(b"x" * len(names[1]), names[1]))
    upload(client, SimpleUploadedFile("u.zip", bytes(data)))
    batch = ImportBatch.objects.get()
    tasks.run_import(batch.pk)
    assert batch.rows.get().state == "warned", batch.rows.get().messages


@pytest.mark.django_db
def test_a_study_of_others_cannot_be_imported_into(client, cast):
    other = factories.StudyFactory(slug="theirs")
    client.force_login(cast.researcher)
    answer = upload(client, zipped(files()), study=other.slug)
    assert answer.status_code == 400
    assert not ImportBatch.objects.exists()


@pytest.mark.django_db
def test_stopping_and_going_on(client, cast, settings):
    client.force_login(cast.researcher)
    upload(client, zipped(files()))
    batch = ImportBatch.objects.get()
    tasks.run_import(batch.pk)
    client.post(url("import_step", batch.pk, "confirm"))
    client.post(url("import_step", batch.pk, "stop"))
    tasks.run_import(batch.pk)
    assert not Dialogue.objects.exists()
    assert client.post(url("import_step", batch.pk, "nonsense")).status_code == 404
    client.post(url("import_step", batch.pk, "resume"))
    tasks.run_import(batch.pk)
    assert Dialogue.objects.count() == 1


@pytest.mark.django_db
def test_a_preview_nobody_confirmed_is_dropped_with_its_files(client, cast, settings):
    client.force_login(cast.researcher)
    upload(client, zipped(files()))
    assert len(unpacked(settings)) == 1
    ImportBatch.objects.update(created_at=timezone.now() - timedelta(days=8))
    tasks.sweep_imports()
    assert unpacked(settings) == []
    batch = ImportBatch.objects.get()
    assert batch.state == "refused"
    assert "within a week" in client.get(url("import", batch.pk)).content.decode()


@pytest.mark.django_db
def test_the_template_comes_as_a_file(client, cast):
    client.force_login(cast.researcher)
    answer = client.get(url("import_template"))
    assert answer.content.decode("utf-8-sig").startswith("id,kind,language,audio")


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_silent_loses_no_upload(client, cast, monkeypatch):
    def silent(*args, **kwargs):
        raise ConnectionRefusedError

    monkeypatch.setattr(tasks.run_import, "apply_async", silent)
    client.force_login(cast.researcher)
    assert upload(client, zipped(files())).status_code == 302
    assert services.waiting_batches() == [ImportBatch.objects.get().pk]


# a worker that is killed


def worker(environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    """A real Celery worker of the audio queue on the tests' database and Redis."""
    command = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "turingsite.celery",
        "-b",
        environment["REDIS_URL"],
        "worker",
    ]
    command += [
        "-P",
        "solo",
        "-Q",
        "audio",
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
        "-l",
        "warning",
    ]
    with log.open("ab") as output:
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
        )


def wait_for(condition, log: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, log.read_text()[-3000:]
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_in_the_middle_of_an_import_loses_nothing(settings, tmp_path, monkeypatch):
    if connection.vendor != "postgresql" or not settings.REDIS_URL:
        pytest.skip("needs PostgreSQL and Redis, which other processes can reach")
    monkeypatch.undo()
    var = tmp_path / "var"
    settings.MEDIA_ROOT = var / "media"
    folder = settings.MEDIA_ROOT / "uploads/killed"
    folder.mkdir(parents=True)
    count = 40
    for number in range(count):
        (folder / f"{number}.wav").write_bytes(clip(20, seed=number))
    lines = [
        json.dumps({"id": f"k{n}", "kind": "human_human", "language": "en", "audio": f"{n}.wav",
                    "turns_a": "0-8", "turns_b": "9-19"})
        for n in range(count)
    ]  # fmt: skip
    manifest = services_manifest("\n".join(lines).encode())
    batch = services.create_batch(name="killed", manifest=manifest, folder="uploads/killed")
    log = tmp_path / "log"
    database = connection.settings_dict
    address = f"{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "turingsite.settings.test",
        "DATABASE_URL": f"postgres://{address}/{database['NAME']}",
        "TEST_VAR_DIR": str(var),
        "REDIS_URL": settings.REDIS_URL,
        "OMP_NUM_THREADS": "1",
    }

    def done() -> int:
        return ImportRow.objects.filter(batch=batch).exclude(state="pending").count()

    def send() -> None:
        with tasks.run_import.app.connection_for_write(settings.REDIS_URL) as broker:
            tasks.run_import.app.send_task(
                tasks.run_import.name, (batch.pk,), connection=broker, queue="audio"
            )

    first = worker(environment, log)
    try:
        send()
        wait_for(lambda: done() >= 3, log)
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    reached = done()
    assert 3 <= reached < count, "the worker was through before it could be killed"
    batch.refresh_from_db()
    assert batch.state == "running"

    ImportBatch.objects.update(lease_until=timezone.now() - timedelta(seconds=1))  # three minutes later
    assert services.waiting_batches() == [batch.pk]
    second = worker(environment, log)
    try:
        send()
        wait_for(lambda: ImportBatch.objects.get(pk=batch.pk).state == "done", log)
    finally:
        os.killpg(second.pid, signal.SIGKILL)
        second.wait()
    assert set(batch.rows.values_list("state", flat=True)) == {"accepted"}
    assert Dialogue.objects.count() == Recording.objects.count() == ProcessingJob.objects.count() == count
    for recording in Recording.objects.all():
        assert (settings.MEDIA_ROOT / recording.path).stat().st_size == recording.size


def services_manifest(data: bytes):
    from dialogues.importing.manifest import read_manifest

    return read_manifest(data, "m.jsonl")


@pytest.mark.django_db
def test_files_of_single_turns_can_be_saved_as_they_came(client, processed, settings):
    given = clip(0.7)
    received = factories.RecordingFactory(path="originals/t1.wav")
    (Path(settings.MEDIA_ROOT) / received.path).write_bytes(given)
    TurnFile.objects.create(dialogue=processed, index=0, recording=received)
    Recording.objects.filter(dialogues=processed).update(is_joined=True)
    text = client.get(url("dialogue", processed.code)).content.decode()
    assert "Save the joined recording" in text
    assert "Save the original" not in text
    saved = client.get(url("original", processed.code), {"turn": 1})
    assert b"".join(saved.streaming_content) == given
    assert 'filename="d1-1.wav"' in saved["Content-Disposition"]
    for wrong in ("2", "0", "-1", "x", "99999999999"):
        assert client.get(url("original", processed.code), {"turn": wrong}).status_code == 404


@pytest.mark.parametrize(
    ("decimals", "value", "shown"),
    [(1, -0.04, "0.0"), (1, -18.04, "-18.0"), (0, 5179.7, "5180"), (2, None, ""), (0, 0, "0")],
)
def test_numbers_have_fitting_decimals_and_no_minus_before_a_zero(decimals, value, shown):
    assert to(decimals, value) == shown


@pytest.mark.django_db
@pytest.mark.parametrize("letter", ["\x00", "\x07", "\x0b", "\x1b", "\ufffe"])
def test_a_system_cannot_be_named_with_a_control_character(client, cast, letter):
    client.force_login(factories.UserFactory(is_staff=True, is_superuser=True))
    system = factories.SystemFactory(name="Bell", code="bell")
    form = {
        "name": f"bell {letter} name",
        "code": "bell",
        "role": "s2s",
        "languages": "[]",
        "benchmark": "{}",
    }
    page = client.post(reverse("admin:dialogues_system_change", args=[system.pk]), form)
    assert page.status_code == 200
    assert "name" in page.context["adminform"].form.errors
    system.refresh_from_db()
    assert system.name == "Bell"
